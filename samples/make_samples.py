#!/usr/bin/env python3
"""Write the sample mails, forms and faulty documents, and the truth about them.

    python3 make_samples.py           write everything beside this script
    python3 make_samples.py --check   write to a temporary folder and compare

Every run gives the same bytes. intents/labelled.jsonl is written by hand; --check
looks at its form as well.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from generator import faults, forms, mails_loss_runs, mails_others

HERE = Path(__file__).resolve().parent
INTENTS = {
    "insurance.loss_run_request", "insurance.loss_run_reply", "insurance.new_lead", "insurance.service_request",
    "fleet.new_driver", "fleet.vehicle_registration", "fleet.compliance_update", "freight.new_load",
    "freight.pod_received", "freight.rate_confirmation", "general_instruction"}


def as_json(value) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def everything() -> dict:
    """All generated files: path below samples/ to bytes."""
    samples = mails_loss_runs.samples() + mails_others.samples()
    samples.sort(key=lambda sample: sample.file)
    samples += forms.samples()
    bad = faults.faults()
    files = {sample.file: sample.data for sample in samples}
    files |= {f"faults/{fault.file}": fault.data for fault in bad}
    files["expected.json"] = as_json({"samples": [sample.entry() for sample in samples]})
    files["faults/expected.json"] = as_json([fault.entry() for fault in bad])
    return files


def write(files: dict, folder: Path) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def labelled_problems(path: Path) -> list:
    """What is wrong with the labelled messages: form, intent, split, doubles."""
    problems, seen, counts = [], set(), Counter()
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        row = json.loads(line)
        if not set(row) <= {"text", "subject", "attachments", "intent", "split"} or not {"text", "intent", "split"} <= set(row):
            problems.append(f"{path.name}:{number}: fields {sorted(row)}")
        if row["intent"] not in INTENTS:
            problems.append(f"{path.name}:{number}: intent {row['intent']}")
        if row["split"] != ("train" if number % 2 else "test"):
            problems.append(f"{path.name}:{number}: odd lines are train, even ones test")
        if row["text"] in seen:
            problems.append(f"{path.name}:{number}: same text twice")
        seen.add(row["text"])
        counts[row["intent"]] += 1
    return problems + [f"{path.name}: no line for {intent}" for intent in sorted(INTENTS - set(counts))]


def check(files: dict) -> list:
    """Differences between what the script writes and what lies beside it."""
    with tempfile.TemporaryDirectory() as folder:
        write(files, Path(folder))
        problems = [f"{name}: differs" for name in files
                    if not (HERE / name).exists() or (HERE / name).read_bytes() != (Path(folder) / name).read_bytes()]
    for part in ("mail", "webhook", "sms", "faults"):
        problems += [f"{path.relative_to(HERE)}: nobody writes this" for path in sorted((HERE / part).rglob("*"))
                     if path.is_file() and str(path.relative_to(HERE)) not in files]
    return problems + labelled_problems(HERE / "intents" / "labelled.jsonl")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    files = everything()
    if options.check:
        problems = check(files)
        print("\n".join(problems) or f"{len(files)} files are as the script writes them")
        return 1 if problems else 0
    write(files, HERE)
    print(f"wrote {len(files)} files, {sum(map(len, files.values())) // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
