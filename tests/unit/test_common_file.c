/* Files under temporary names, and what is in their way (common/file.h). */
#include "common/file.h"
#include "common/nbc.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Stands in for that of the C library: names of temporary files come from here. */
static uint64_t next_bits;
int getentropy(void *buffer, size_t size)
{
    memset(buffer, 0, size);
    memcpy(buffer, &next_bits, size < sizeof next_bits ? size : sizeof next_bits);
    next_bits++;
    return 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void assert_text(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = 0;
    fclose(file);
    assert_string_equal(found, text);
}

static int make(const char *path, char name[200], struct nbc_error *err)
{
    int fd;
    const int status = nbc_file_make_temporary(path, name, 200, &fd, err);
    if (!status) {
        assert_int_equal(write(fd, "new", 3), 3);
        assert_int_equal(close(fd), 0);
    }
    return status;
}

/* A link or a file that has the name already is neither followed nor touched. */
static void taken_names(void **state)
{
    (void)state;
    char first[200], second[200], name[200];
    struct nbc_error err = {0};
    write_file("precious", "mine");
    next_bits = 100;
    assert_int_equal(make("a.h5", first, &err), NBC_OK);
    assert_int_equal(make("a.h5", second, &err), NBC_OK);
    assert_string_not_equal(first, second);
    assert_true(unlink(first) == 0 && unlink(second) == 0);
    assert_int_equal(symlink("precious", first), 0);
    assert_int_equal(link("precious", second), 0);
    next_bits = 100;
    assert_int_equal(make("a.h5", name, &err), NBC_OK);
    assert_true(strcmp(name, first) != 0 && strcmp(name, second) != 0);
    assert_text("precious", "mine");
    assert_text(name, "new");
    assert_int_equal(nbc_file_place(name, "a.h5", &err), NBC_OK);
    assert_text("a.h5", "new");
    next_bits = 100; /* and the second name of what is kept */
    assert_int_equal(make("b.h5", name, &err), NBC_OK);
    next_bits = 100;
    char kept[200];
    snprintf(kept, sizeof kept, "a.h5%s", strrchr(name, '.'));
    assert_string_equal(kept, first);
    assert_int_equal(nbc_file_replace(name, "b.h5", "a.h5", &err), NBC_OK);
    assert_text("precious", "mine");
    assert_int_equal(readlink(first, kept, sizeof kept), strlen("precious"));
}

static void rights_follow_the_umask(void **state)
{
    (void)state;
    static const mode_t masks[] = {0, 022, 027, 077};
    for (size_t k = 0; k < sizeof masks / sizeof *masks; k++) {
        char name[200];
        struct stat status;
        struct nbc_error err = {0};
        const mode_t before = umask(masks[k]);
        assert_int_equal(make("rights", name, &err), NBC_OK);
        umask(before);
        assert_int_equal(stat(name, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0666 & ~masks[k]);
        assert_int_equal(unlink(name), 0);
    }
}

static void names_are_known(void **state)
{
    (void)state;
    char name[200];
    struct nbc_error err = {0};
    assert_int_equal(make("some.ckpt.h5", name, &err), NBC_OK);
    assert_int_equal(nbc_file_of_temporary(name), strlen("some.ckpt.h5"));
    assert_int_equal(unlink(name), 0);
    static const char *const others[] = {"",
                                         "a.tmp",
                                         "a.h5.tmp-0123456",
                                         "a.h5.tmp-012345678",
                                         ".tmp-abcdefgh",
                                         "a.h5.tmp-ABCDEFGH",
                                         "a.h5.tmp-0123-567",
                                         "a.h5_tmp-01234567"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) assert_int_equal(nbc_file_of_temporary(others[k]), 0);
    assert_int_equal(nbc_file_of_temporary("a.h5.tmp-01234567"), 4);
    char small[12];
    int fd;
    assert_int_equal(nbc_file_make_temporary("some.ckpt.h5", small, sizeof small, &fd, &err), NBC_FILE);
    assert_true(fd == -1 && small[0] == 0);
    assert_int_equal(make("no/such/a.h5", name, &err), NBC_FILE);
    assert_true(name[0] == 0 && strstr(err.text, "no/such/a.h5: cannot create"));
}

/* A path that is no regular file stays, whichever link leads to it. */
static void special_files_are_refused(void **state)
{
    (void)state;
    char name[200];
    struct nbc_error err = {0};
    struct stat status;
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("/dev/null", "null"), 0);
    assert_int_equal(symlink("pipe", "to_pipe"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    static const char *const special[] = {"pipe", "folder", "null", "to_pipe"};
    for (size_t k = 0; k < sizeof special / sizeof *special; k++) {
        assert_int_equal(make(special[k], name, &err), NBC_FILE);
        assert_true(name[0] == 0 && strstr(err.text, special[k]) && strstr(err.text, "not a regular file"));
        write_file("new", "new");
        write_file("old", "old");
        assert_int_equal(nbc_file_replace("new", "old", special[k], &err), NBC_FILE);
        assert_text("old", "old");
        assert_true(lstat(special[k], &status) == 0 && !S_ISREG(status.st_mode));
    }
    assert_int_equal(make("dangling", name, &err), NBC_OK);
    assert_int_equal(nbc_file_place(name, "dangling", &err), NBC_OK);
    assert_text("dangling", "new");
    assert_int_equal(access("nowhere", F_OK), -1);
}

/* After a kill between the two steps of a replacement both names are of one file: rename(2) does nothing then. */
static void kept_file_that_is_the_same(void **state)
{
    (void)state;
    struct nbc_error err = {0};
    assert_int_equal(mkdir("same", 0777), 0);
    write_file("same/now", "old");
    assert_int_equal(link("same/now", "same/before"), 0);
    write_file("same/new", "new");
    assert_int_equal(nbc_file_replace("same/new", "same/now", "same/before", &err), NBC_OK);
    assert_text("same/now", "new");
    assert_text("same/before", "old");
    assert_true(unlink("same/now") == 0 && unlink("same/before") == 0);
    assert_int_equal(rmdir("same"), 0); /* nothing else is there */
}

static char folder[] = "/tmp/nb6_file_XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return folder_enter(folder);
}

static int tear_down(void **state)
{
    (void)state;
    return folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_names),
        cmocka_unit_test(rights_follow_the_umask),
        cmocka_unit_test(names_are_known),
        cmocka_unit_test(special_files_are_refused),
        cmocka_unit_test(kept_file_that_is_the_same),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
