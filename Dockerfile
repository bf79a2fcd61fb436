# docker build -t nbody6 . ; docker run --rm -v "$PWD:/run" nbody6 cluster.inp
# Programs, libraries and pictures on Debian; what builds them stays behind. For GPUs: build with nvcc on the machine.
FROM debian:bookworm AS build
WORKDIR /src
RUN apt-get update && apt-get install -y --no-install-recommends gcc gfortran make pkg-config libc6-dev libgsl-dev \
    libhdf5-dev zlib1g-dev
COPY . .
RUN make -j"$(nproc)" BUILD=/build CUDA=0 && make BUILD=/build CUDA=0 DESTDIR=/installed install

FROM debian:bookworm
RUN apt-get update && apt-get install -y --no-install-recommends libgsl27 libhdf5-103-1 libgfortran5 libgomp1 zlib1g \
    python3 python3-numpy python3-h5py python3-matplotlib && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed/usr/local /usr/local
RUN ldconfig
WORKDIR /run
ENTRYPOINT ["nbody6"]
CMD ["--help"]
