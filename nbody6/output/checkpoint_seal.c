#include "nbody6/output/checkpoint_seal.h"

#include "common/file.h"
#include "common/nbc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 18, SLICES = 16, CRC_BYTES = 8 };

static const char magic[] = "nbody6 checkpoint\n";

/* table[s][b]: effect of byte b that is followed by s zero bytes. Filled before main(), so that any thread may use it.
 */
static uint64_t table[SLICES][256];

__attribute__((constructor)) static void fill_table(void)
{
    const uint64_t polynomial = 0xc96c5795d7870f42U;
    for (unsigned b = 0; b < 256; b++) {
        uint64_t crc = b;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
        table[0][b] = crc;
    }
    for (int s = 1; s < SLICES; s++)
        for (unsigned b = 0; b < 256; b++) table[s][b] = table[s - 1][b] >> 8 ^ table[0][table[s - 1][b] & 255];
}

uint64_t nb6_crc64(uint64_t crc, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    crc = ~crc;
    for (; bytes >= SLICES; p += SLICES, bytes -= SLICES) {
        uint64_t next = 0;
        for (int k = 0; k < CRC_BYTES; k++) next ^= table[SLICES - 1 - k][(crc >> 8 * k & 255) ^ p[k]];
        for (int k = CRC_BYTES; k < SLICES; k++) next ^= table[SLICES - 1 - k][p[k]];
        crc = next;
    }
    for (; bytes; p++, bytes--) crc = crc >> 8 ^ table[0][(crc & 255) ^ *p];
    return ~crc;
}

/* Checksum of all bytes behind the seal.   @return 0 or an errno */
static int checksum(int fd, uint64_t *crc, uint64_t *bytes)
{
    char *buffer = nbc_alloc(PIECE, 1);
    if (!buffer) return ENOMEM;
    ssize_t got;
    int reason = 0;
    *crc = 0;
    for (*bytes = NB6_SEAL_BYTES; (got = pread(fd, buffer, PIECE, (off_t)*bytes)) != 0;) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            reason = errno;
            break;
        }
        *crc = nb6_crc64(*crc, buffer, (size_t)got);
        *bytes += (uint64_t)got;
    }
    nbc_free(buffer);
    return reason;
}

static void make_seal(char seal[NB6_SEAL_BYTES], int schema, uint64_t bytes, uint64_t crc)
{
    memset(seal, 0, NB6_SEAL_BYTES);
    snprintf(seal, NB6_SEAL_BYTES, "%sschema %d\nbytes %" PRIu64 "\ncrc64 %016" PRIx64 "\n", magic, schema, bytes, crc);
}

void nb6_seal_write(struct nb6_hdf5 *file, int schema)
{
    char seal[NB6_SEAL_BYTES];
    uint64_t crc, bytes;
    if (file->status) return;
    int reason = checksum(file->sink.fd, &crc, &bytes);
    if (!reason) {
        make_seal(seal, schema, bytes, crc);
        if (pwrite(file->sink.fd, seal, sizeof seal, 0) != (ssize_t)sizeof seal) reason = errno ? errno : ENOSPC;
    }
    if (reason)
        file->status =
            nbc_fail(file->err, nbc_file_status(reason), "%s: cannot write: %s", file->path, strerror(reason));
}

static int check_magic(const char *path, const char *seal, struct nbc_error *err)
{
    static const char hdf5_magic[] = "\211HDF\r\n\032\n";
    if (memcmp(seal, magic, sizeof magic - 1) == 0) return NBC_OK;
    if (memcmp(seal, hdf5_magic, sizeof hdf5_magic - 1) == 0)
        return nbc_fail(err, NBC_FILE, "%s: this HDF5 file is not a checkpoint (a snapshot cannot be resumed)", path);
    return nbc_fail(err, NBC_FILE, "%s: not a checkpoint of nbody6, or its beginning is damaged", path);
}

static int check_open_file(const char *path, int fd, int schema, struct nbc_error *err)
{
    char seal[NB6_SEAL_BYTES + 1] = {0}, expected[NB6_SEAL_BYTES];
    ssize_t got = pread(fd, seal, NB6_SEAL_BYTES, 0);
    if (got < 0) return nbc_fail(err, nbc_file_status(errno), "%s: cannot read: %s", path, strerror(errno));
    if (got >= (ssize_t)(sizeof magic - 1) && check_magic(path, seal, err)) return NBC_FILE;
    if (got < NB6_SEAL_BYTES) return nbc_fail(err, NBC_FILE, "%s: truncated: only %d bytes are left", path, (int)got);
    int found = 0;
    uint64_t bytes = 0, crc_now, bytes_now;
    if (sscanf(seal + sizeof magic - 1, "schema %d\nbytes %" SCNu64 "\n", &found, &bytes) != 2)
        return nbc_fail(err, NBC_FILE, "%s: corrupted in its first %d bytes", path, NB6_SEAL_BYTES);
    if (found != schema)
        return nbc_fail(err, NBC_FILE, "%s: written with checkpoint schema %d, this program reads schema %d", path,
                        found, schema);
    int reason = checksum(fd, &crc_now, &bytes_now);
    if (reason) return nbc_fail(err, nbc_file_status(reason), "%s: cannot read: %s", path, strerror(reason));
    if (bytes_now < bytes)
        return nbc_fail(err, NBC_FILE, "%s: truncated: %" PRIu64 " of %" PRIu64 " bytes are left", path, bytes_now,
                        bytes);
    make_seal(expected, schema, bytes_now, crc_now);
    if (memcmp(seal, expected, NB6_SEAL_BYTES) != 0)
        return nbc_fail(err, NBC_FILE, "%s: corrupted: length or checksum differ from what was written", path);
    return NBC_OK;
}

int nb6_seal_check(const char *path, int schema, struct nbc_error *err)
{
    const int special = nbc_file_refuse_special(path, err);
    if (special) return special;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return nbc_fail(err, nbc_file_status(errno), "%s: %s", path, strerror(errno));
    const int result = check_open_file(path, fd, schema, err);
    close(fd);
    return result;
}
