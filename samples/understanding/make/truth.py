"""What is right about one mail, in the form of truth.json.

The rules: what a paper prints about a policy is wanted; the address, deductibles, the limits of coverages other
than automobile, cargo and general liability, uninsured motorists, medical payments and licence numbers of drivers
on a policy are optional; a VIN with a wrong check digit is `vin_suspect`, optional; who writes is optional except
in leads. The agency is never the insured.
"""
from values import vin_ok
from world import REQUIRED_LIMIT


class Truth:
    def __init__(s, world, file, about, intent, review, why, also=()):
        s.world, s.file = world, file
        s.t = dict(about=about, intent=intent, also_acceptable=list(also), review=review, review_reason=why, attachments=[], fields={}, not_fields={}, records=[], forbidden=[], sensitive=[])

    def F(s, name, value, where, optional=False, **kw):
        entries = s.t["fields"].setdefault(name, [])
        for e in entries:
            if e["value"] == value:
                if where not in e["where"]:
                    e["where"].append(where)
                if not optional:
                    e.pop("optional", None)
                return s
        entries.append(dict(value=value, where=[where], **({"optional": True} if optional else {}), **kw))
        return s

    def ent(s, e, where, only="name dot mc addr", optional=False):
        for k in only.split():
            field = {"name": "insured_name", "dot": "dot_number", "mc": "mc_number", "addr": "address"}[k]
            s.F(field, {"name": e.name, "dot": e.dot, "mc": e.mc, "addr": e.addr}[k], where, optional or k == "addr")
        if "name" in only.split() and e.dba:
            s.F("insured_name", e.dba, where, True)
        return s

    def who(s, name=None, mail=None, phone=None, where="signature", optional=True):
        for f, v in (("contact_name", name), ("contact_email", mail), ("contact_phone", phone)):
            if v:
                s.F(f, v, where, optional)
        return s

    def policy(s, p, where, st, optional=False, ent=True, skip=()):
        """Everything that a paper in style `st` prints about a policy."""
        if ent:
            s.ent(p.ent, where, "name " + " ".join(x for x in ("dot", "mc", "addr") if x in p.show), optional)

        def f(name, value, opt=False, **k):
            if name not in skip:
                s.F(name, value, where, optional or opt, **k)
        f("carrier", p.ins.name)
        if "naic" in p.show:
            f("naic_number", p.ins.naic)
        f("policy_number", p.no)
        f("effective_date", p.eff)
        f("expiry_date", p.exp)
        for c in p.covs:
            f("coverage_type", c.kind, c.kind in ("um_uim", "med_pay"), **{"as": st.words(c)})
            f("limit", c.limit, c.kind not in REQUIRED_LIMIT)
            if c.second:
                f("limit", c.second, True)
            if c.ded:
                f("deductible", c.ded, True)
        for v in p.veh:
            s.vin(v["vin"], where, optional, skip)
        for a, b in p.drv:
            f("driver_name", a)
            f("license_number", b, True)
        s.not_(**st.noise)
        return s

    def vin(s, v, where, optional=False, skip=()):
        if "vin" in skip:
            return s
        ok = vin_ok(v)
        s.F("vin" if ok else "vin_suspect", v, where, optional or not ok)
        if not ok and v not in s.t.setdefault("wrong_vins", []):
            s.t["wrong_vins"].append(v)
        return s

    def paper(s, filename, kind, readable=True, **kw):
        s.t["attachments"].append(dict(filename=filename, kind=kind, readable=readable, **kw))
        return s

    def not_(s, **kw):
        for k, v in kw.items():
            have = s.t["not_fields"].setdefault(k, [])
            have.extend(x for x in dict.fromkeys(v if isinstance(v, (list, tuple)) else [v]) if x not in have)
        return s

    def agency(s):
        a = s.world.agency
        return s.not_(insured_name=a.name, contact_phone=[a.phone, a.fax])

    def R(s, kind, action, **kw):
        s.t["records"].append(dict(kind=kind, action=action, **kw))
        return s

    def no(s, *effects):
        s.t["forbidden"] += effects
        return s

    def wants(s, e, pipeline, requests, action="created"):
        """The records of a loss-run request. requests: [(insurer, [policy numbers])]."""
        s.R("entity", "created" if action == "created" else "resolved", entity_type="motor_carrier", name=e.name, dot=e.dot, mc=e.mc)
        s.R("deal", action, insured=e.name, pipeline=pipeline)
        for ins, numbers in requests:
            for p in numbers:
                s.R("policy", action, insured=e.name, insurer=ins.name, policy_number=p)
            s.R("loss_run_request", action, insured=e.name, insurer=ins.name, policy_numbers=list(numbers))
        return s

    def lead(s, e):
        s.R("entity", "created", entity_type="motor_carrier", name=e.name, dot=e.dot)
        return s.R("deal", "created", insured=e.name, pipeline="new_business").no("loss_run_request")

    def close(s):
        """Takes out of not_fields what is a value after all: no value may stand on both sides."""
        for f, vs in list(s.t["not_fields"].items()):
            good = {e["value"] for e in s.t["fields"].get(f, [])}
            vs = [v for v in vs if v not in good]
            if vs:
                s.t["not_fields"][f] = vs
            else:
                del s.t["not_fields"][f]
        return s.t
