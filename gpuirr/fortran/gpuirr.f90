! Fortran interfaces of GPUIRR. Nothing here has code: link libgpuirr, or the library that each module names.
!
!   gpuirr            the C API of gpuirr.h, for new programs: handles, body numbers from 0, plain derivatives
!   gpuirr_legacy     the calls of NBODY6, libgpuirr: body numbers from 1, F/2 and FDOT/6
!   gpuirr_legacy_pp  the calls of NBODY6++GPU, libgpuirr_nbody6pp
!
! gpuirr.h says what each call does, what it returns, and what may be called by several threads. Legacy programs need no
! module: they call the symbols as they always did. The modules let a compiler check the arguments.

module gpuirr
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int32_t, c_int64_t, c_null_char, c_null_ptr, &
                                         c_ptr, c_size_t
  implicit none
  private :: c_char, c_double, c_int, c_int32_t, c_int64_t, c_null_char, c_null_ptr, c_ptr, c_size_t

  ! Status codes of nbc.h that the calls here return.
  integer(c_int), parameter :: gpuirr_ok = 0, gpuirr_bad_argument = 2, gpuirr_no_memory = 3, gpuirr_non_finite = 4, &
                               gpuirr_bad_state = 5, gpuirr_unavailable = 10

  ! backend: c_loc of a null-terminated name, or c_null_ptr for the best one.
  type, bind(c) :: gpuirr_options
    type(c_ptr) :: backend = c_null_ptr
  end type gpuirr_options

  ! struct nbc_error: the text of the failure, which ends with c_null_char.
  type, bind(c) :: gpuirr_error
    integer(c_int) :: status = 0
    character(kind=c_char) :: text(4096) = c_null_char
  end type gpuirr_error

  type, bind(c) :: gpuirr_stats
    integer(c_int64_t) :: calls = 0, bodies = 0, interactions = 0, coincident_pairs = 0
    real(c_double) :: seconds_pred = 0, seconds_firr = 0
  end type gpuirr_stats

  interface
    integer(c_int) function gpuirr_create(handle, n_max, options, err) bind(c, name='gpuirr_create')
      import :: c_int, c_ptr, c_size_t, gpuirr_error, gpuirr_options
      type(c_ptr), intent(inout) :: handle
      integer(c_size_t), value :: n_max
      type(gpuirr_options), intent(in) :: options
      type(gpuirr_error), intent(inout) :: err
    end function gpuirr_create

    integer(c_int) function gpuirr_reserve(handle, n_max) bind(c, name='gpuirr_reserve')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: n_max
    end function gpuirr_reserve

    subroutine gpuirr_free(handle) bind(c, name='gpuirr_free')
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine gpuirr_free

    ! A null-terminated text that the library owns.
    type(c_ptr) function gpuirr_last_error(handle) bind(c, name='gpuirr_last_error')
      import :: c_ptr
      type(c_ptr), value :: handle
    end function gpuirr_last_error

    integer(c_int) function gpuirr_set_jp(handle, i, x, v, acc, jerk, mass, t0) bind(c, name='gpuirr_set_jp')
      import :: c_double, c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: i
      real(c_double), intent(in) :: x(3), v(3), acc(3), jerk(3)
      real(c_double), value :: mass, t0
    end function gpuirr_set_jp

    integer(c_int) function gpuirr_set_list(handle, i, nnb, nblist) bind(c, name='gpuirr_set_list')
      import :: c_int, c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: i, nnb
      integer(c_int32_t), intent(in) :: nblist(*)
    end function gpuirr_set_list

    ! c_f_pointer makes an array of what is returned.
    type(c_ptr) function gpuirr_get_list(handle, i, nnb) bind(c, name='gpuirr_get_list')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: i
      integer(c_size_t), intent(out) :: nnb
    end function gpuirr_get_list

    integer(c_int) function gpuirr_pred_all(handle, lo, hi, t) bind(c, name='gpuirr_pred_all')
      import :: c_double, c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: lo, hi
      real(c_double), value :: t
    end function gpuirr_pred_all

    integer(c_int) function gpuirr_pred_act(handle, n_act, act, t) bind(c, name='gpuirr_pred_act')
      import :: c_double, c_int, c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: n_act
      integer(c_int32_t), intent(in) :: act(*)
      real(c_double), value :: t
    end function gpuirr_pred_act

    integer(c_int) function gpuirr_firr_vec(handle, n_act, act, acc, jerk, nearest) bind(c, name='gpuirr_firr_vec')
      import :: c_double, c_int, c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: n_act
      integer(c_int32_t), intent(in) :: act(*)
      real(c_double), intent(inout) :: acc(3, *), jerk(3, *)
      integer(c_int32_t), intent(inout), optional :: nearest(*)
    end function gpuirr_firr_vec

    integer(c_int) function gpuirr_firr_noise(handle, n_act, act, acc, jerk, nearest, noise) &
        bind(c, name='gpuirr_firr_noise')
      import :: c_double, c_int, c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: handle
      integer(c_size_t), value :: n_act
      integer(c_int32_t), intent(in) :: act(*)
      real(c_double), intent(inout) :: acc(3, *), jerk(3, *)
      integer(c_int32_t), intent(inout), optional :: nearest(*)
      real(c_double), intent(inout), optional :: noise(*)
    end function gpuirr_firr_noise

    integer(c_int) function gpuirr_set_in_double(handle, in_double) bind(c, name='gpuirr_set_in_double')
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int), value :: in_double
    end function gpuirr_set_in_double

    subroutine gpuirr_get_stats(handle, stats) bind(c, name='gpuirr_get_stats')
      import :: c_ptr, gpuirr_stats
      type(c_ptr), value :: handle
      type(gpuirr_stats), intent(out) :: stats
    end subroutine gpuirr_get_stats
  end interface
end module gpuirr

module gpuirr_legacy
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  private :: c_double, c_int

  interface
    ! Body numbers up to nmax; lmax: leading dimension of LIST.
    subroutine gpuirr_open(nmax, lmax) bind(c, name='gpuirr_open_')
      import :: c_int
      integer(c_int), intent(in) :: nmax, lmax
    end subroutine gpuirr_open

    subroutine gpuirr_close() bind(c, name='gpuirr_close_')
    end subroutine gpuirr_close

    ! f, fdot: half the acceleration, a sixth of its derivative. For different bodies at once.
    subroutine gpuirr_set_jp(i, x0, x0dot, f, fdot, body, t0) bind(c, name='gpuirr_set_jp_')
      import :: c_double, c_int
      integer(c_int), intent(in) :: i
      real(c_double), intent(in) :: x0(3), x0dot(3), f(3), fdot(3), body, t0
    end subroutine gpuirr_set_jp

    ! nblist: count, then that many body numbers. For different bodies at once.
    subroutine gpuirr_set_list(i, nblist) bind(c, name='gpuirr_set_list_')
      import :: c_int
      integer(c_int), intent(in) :: i, nblist(*)
    end subroutine gpuirr_set_list

    subroutine gpuirr_get_list(i, nblist) bind(c, name='gpuirr_get_list_')
      import :: c_int
      integer(c_int), intent(in) :: i
      integer(c_int), intent(inout) :: nblist(*)
    end subroutine gpuirr_get_list

    ! Bodies first to last, both included.
    subroutine gpuirr_pred_all(first, last, time) bind(c, name='gpuirr_pred_all_')
      import :: c_double, c_int
      integer(c_int), intent(in) :: first, last
      real(c_double), intent(in) :: time
    end subroutine gpuirr_pred_all

    subroutine gpuirr_pred_act(ni, nxtlst, time) bind(c, name='gpuirr_pred_act_')
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni, nxtlst(*)
      real(c_double), intent(in) :: time
    end subroutine gpuirr_pred_act

    subroutine gpuirr_firr_vec(ni, nxtlst, acc, jerk) bind(c, name='gpuirr_firr_vec_')
      import :: c_double, c_int
      integer(c_int), intent(in) :: ni, nxtlst(*)
      real(c_double), intent(inout) :: acc(3, *), jerk(3, *)
    end subroutine gpuirr_firr_vec

    subroutine gpuirr_firr(i, acc, jerk) bind(c, name='gpuirr_firr_')
      import :: c_double, c_int
      integer(c_int), intent(in) :: i
      real(c_double), intent(out) :: acc(3), jerk(3)
    end subroutine gpuirr_firr
  end interface
end module gpuirr_legacy

module gpuirr_legacy_pp
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  private :: c_double, c_int

  interface
    subroutine irr_simd_open(nmax, lmax, rank) bind(c, name='irr_simd_open_')
      import :: c_int
      integer(c_int), intent(in) :: nmax, lmax, rank
    end subroutine irr_simd_open

    subroutine irr_simd_close(rank) bind(c, name='irr_simd_close_')
      import :: c_int
      integer(c_int), intent(in) :: rank
    end subroutine irr_simd_close

    ! A line on stderr about the work since the last call.
    subroutine irr_simd_profile(rank) bind(c, name='irr_simd_profile_')
      import :: c_int
      integer(c_int), intent(in) :: rank
    end subroutine irr_simd_profile

    subroutine irr_simd_set_jp(i, x0, x0dot, f, fdot, body, t0) bind(c, name='irr_simd_set_jp_')
      import :: c_double, c_int
      integer(c_int), intent(in) :: i
      real(c_double), intent(in) :: x0(3), x0dot(3), f(3), fdot(3), body, t0
    end subroutine irr_simd_set_jp

    subroutine irr_simd_set_list(i, nblist) bind(c, name='irr_simd_set_list_')
      import :: c_int
      integer(c_int), intent(in) :: i, nblist(*)
    end subroutine irr_simd_set_list

    ! nearest: number of the nearest neighbour, 0 if the list is empty.
    subroutine irr_simd_firr_vec(time, ni, nxtlst, acc, jerk, nearest) bind(c, name='irr_simd_firr_vec_')
      import :: c_double, c_int
      real(c_double), intent(in) :: time
      integer(c_int), intent(in) :: ni, nxtlst(*)
      real(c_double), intent(inout) :: acc(3, *), jerk(3, *)
      integer(c_int), intent(inout) :: nearest(*)
    end subroutine irr_simd_firr_vec
  end interface
end module gpuirr_legacy_pp
