"""Ten thousand forged checkpoints: one field of a sound one changed in one way, with its checksum made right again. Each
is refused with a message, runs on soundly or stops with a message, within ten seconds; counts by kind stand at the end."""

import collections
import os
import shutil
import tempfile
import unittest

import forged_runs

CASES = int(os.environ.get("NB6_FORGED", 10000))
SEED = int(os.environ.get("NB6_FORGED_SEED", 57))


class ForgedTest(unittest.TestCase):
    def test_any_field_changed_in_any_way(self):
        folder = tempfile.mkdtemp(prefix="nb6_forged_")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        attack = forged_runs.Attack(folder, {kind: forged_runs.make(folder, kind) for kind in forged_runs.KINDS}, SEED)
        count, wrong, longest = collections.Counter(), [], 0
        for _ in range(CASES):
            case, end, text, seconds = attack.next()
            count[end] += 1
            longest = max(longest, seconds)
            if end not in ("sound", "refused", "stopped"):
                wrong.append("%s: %s\n%s" % (case, end, text))
        print("%d forged checkpoints, seed %d: %s; the longest took %.1f s" % (
            CASES, SEED, ", ".join("%d %s" % (n, end) for end, n in count.most_common()), longest))
        self.assertEqual(wrong, [], "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
