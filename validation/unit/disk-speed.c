#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/room.h"

static const struct disk_speed guess = { 1.0, 2.0 };

static size_t entries(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* Nothing of it is to be seen, neither the file nor that the folder was touched. */
static void test_leaves_nothing(void **state)
{
    (void)state;
    char folder[] = "disk-speed-XXXXXX", path[64];
    struct stat before, after;
    struct disk_speed speed = guess;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(stat(folder, &before), 0);
    snprintf(path, sizeof path, "%s/not/there.run", folder);
    const int failed = disk_speed_measure(path, 1 << 20, &speed);
    assert_int_equal(stat(folder, &after), 0);
    assert_int_equal(entries(folder), 2); /* . and .. */
    assert_int_equal(rmdir(folder), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    if (failed == EOPNOTSUPP || failed == EISDIR)
        pass_untried("a file system without files that have no name");
    assert_int_equal(failed, 0);
    assert_true(speed.rate > 0.0 && speed.rate != guess.rate);
    assert_true(speed.flush > 0.0 && speed.flush != guess.flush);
}

static void test_a_folder_of_the_name_alone(void **state)
{
    (void)state;
    struct disk_speed here = guess, root = guess;
    const int failed = disk_speed_measure("nowhere.run", 1000, &here);
    if (failed == EOPNOTSUPP || failed == EISDIR)
        pass_untried("a file system without files that have no name");
    assert_int_equal(failed, 0);
    assert_true(here.flush != guess.flush);
    disk_speed_measure("/nowhere.run", 1000, &root); /* ends, whether it may write there or not */
}

/* Then what is known of disks stays as it was. */
static void test_where_nothing_can_be_written(void **state)
{
    (void)state;
    struct disk_speed speed = guess;
    char long_path[8192];
    assert_int_not_equal(disk_speed_measure("/proc/self/no.run", 1000, &speed), 0);
    assert_int_equal(disk_speed_measure("/dev/null/no.run", 1000, &speed), ENOTDIR);
    memset(long_path, 'a', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    assert_int_equal(disk_speed_measure(long_path, 1000, &speed), ENAMETOOLONG);
    assert_memory_equal(&speed, &guess, sizeof guess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaves_nothing),
        cmocka_unit_test(test_a_folder_of_the_name_alone),
        cmocka_unit_test(test_where_nothing_can_be_written),
    };
    return cmocka_run_group_tests_name("disk-speed", tests, NULL, NULL);
}
