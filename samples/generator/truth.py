"""What each sample must come to, derived from the same facts as its documents."""

from dataclasses import dataclass

from .facts import Account, Company


@dataclass(frozen=True)
class Sample:
    file: str
    data: bytes
    truth: dict

    def entry(self) -> dict:
        return {"file": self.file} | self.truth


def entity(company: Company) -> dict:
    """Identifiers are given as digits only, however the document writes them."""
    out = {"name": company.name}
    if company.dot:
        out["dotNumber"] = company.dot
    if company.mc:
        out["mcNumber"] = company.mc
    return out


def loss_run(account: Account, note: str, vehicles=True, channel="email") -> dict:
    """A loss-run request that runs to its end: one request a (deal, insurer)."""
    insurers = list(dict.fromkeys(policy.insurer.name for policy in account.policies))
    return {
        "channel": channel, "status": "completed", "intent": "insurance.loss_run_request",
        "entity": entity(account.insured), "insurers": insurers,
        "policies": [{"policyNumber": x.number, "insurer": x.insurer.name, "lines": list(x.lines),
                      "effective": x.effective.isoformat(), "expiration": x.expiration.isoformat()}
                     for x in account.policies],
        **({"vins": vins(account)} if vehicles else {}),
        "records": {"network.entity": 1, "insurance.deal": 1, "insurance.policy": len(account.policies),
                    "insurance.loss_run_request": len(insurers)},
        "note": note}


def vins(account: Account) -> list:
    return [{"vin": v.vin, "valid": v.valid} for v in account.vehicles]


def lead(company: Company, note: str, channel="email", account: Account | None = None) -> dict:
    """A lead that runs to its end: an entity, a deal, a notice to an agent."""
    return {"channel": channel, "status": "completed", "intent": "insurance.new_lead", "entity": entity(company),
            **({"vins": vins(account)} if account else {}),
            "records": {"network.entity": 1, "insurance.deal": 1}, "note": note}


def waits(kind: str, note: str, intent=None, names=(), channel="email") -> dict:
    """A task that stops for a person: over a document, the intent or a missing tool."""
    return {"channel": channel, "status": "needs_review", "intent": intent, "waitKind": kind,
            **({"waitNames": list(names)} if names else {}), "note": note}
