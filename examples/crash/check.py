#!/usr/bin/env python3
"""check.py FOLDER: holds what run.sh has kept in a folder against what it claims, and says what was counted where."""

import json
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

FOLDER = Path(sys.argv[1])


def lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines() if line.strip()]


def items(name):
    return json.loads((FOLDER / name).read_text())["items"]


world = lines("world.log")
taken = lines("taken.jsonl")  # one task, as it was answered, for each order
tasks = {task["id"]: task for task in items("tasks.json")}
logs = {task: items(f"log-{task}.json") for task in tasks}
order_of = {task["id"]: order for task, order in zip(taken, (FOLDER / "orders").read_text().split())}
charges = [line for line in world if line["what"] == "charge"]
questions = [line for line in world if line["what"] == "question"]
kills = [line for line in world if line.get("killed")]
all_hold = True


def claim(says, figure, counted, faults):
    global all_hold
    all_hold &= not faults
    print(f"  {'✗' if faults else '✓'} {says}: {figure}\n    counted: {counted}")
    for fault in faults:
        print(f"    but {fault}")


taken_up = sum(entry["eventType"] == "zombie_reset" for log in logs.values() for entry in log)
faults = [] if len(kills) == 2 and taken_up > 0 else ["the server was not killed in the middle of the work"]
claim("killed in the middle, resumed by itself", f"{len(kills)} kills, {taken_up} tasks taken up again",
      "kills by world.py, zombie_reset in the logs", faults)

faults = [f"order {order_of[id]} is {tasks.get(id, {}).get('status', 'lost')}" for id in order_of
          if tasks.get(id, {}).get("status") != "completed"]
faults += [f"task {id} came of no order" for id in tasks if id not in order_of]
faults += ["two orders became one task"] if len(order_of) != len(taken) else []
claim("no order is lost or doubled", f"{len(taken)} orders acknowledged, {len(tasks)} tasks",
      "answers to kybern task submit, kybern task list", faults)

booked = Counter(line["order"] for line in charges if line["booked"])
faults = [f"order {order} was charged {booked[order]} times" for order in order_of.values() if booked[order] != 1]
claim("every customer is charged once",
      f"{len(charges)} requests, {sum(booked.values())} booked, {len(charges) - sum(booked.values())} repeated a key "
      "after a kill and booked nothing", "the payment service's own log", faults)

told = Counter(message["taskId"] for message in items("outbox.json"))
faults = [f"order {order} has {told[id]} messages" for id, order in order_of.items() if told[id] != 1]
claim("every customer is told once", f"{sum(told.values())} messages", "kybern outbox list", faults)

answered, late, faults = 0, 0, []
for id, order in order_of.items():
    ends = [entry for entry in logs.get(id, []) if (entry["eventType"], entry["stepId"]) == ("step_completed", "choose")]
    asked = [line for line in questions if line["order"] == order]
    answered += len(ends)
    if len(ends) != 1 or not asked:
        faults.append(f"order {order}: {len(asked)} questions, {len(ends)} answers")
        continue
    at = datetime.fromisoformat(ends[0]["createdAt"].replace("Z", "+00:00")).timestamp()
    after = sum(line["at"] > at + 0.001 for line in asked)
    late += after
    if after:
        faults.append(f"order {order} was asked about after its answer was in the journal")
    if len({line["process"] for line in asked}) != len(asked):
        faults.append(f"order {order} was asked about twice by a process that was not killed")
claim("no model is asked again for what it has answered",
      f"{len(questions)} questions, {answered} answers in the journal, {late} questions after their answer",
      "the model's own log against the times in kybern task log", faults)

sys.exit(0 if all_hold else 1)
