"""Insurers answer: with the token in subject, quoted mail or nowhere, from their own or from a foreign domain, with losses, without, or with a refusal."""
import zlib

import lossruns
from bodies import Writer, letter, quoted_history
from truth import Truth
from values import *

REPLY = "insurance.loss_run_reply"
HERE = ["Per your inquiry, loss information is provided below and attached.", "Find attached the 5 year experience.", "As requested.", "Losses enclosed. If anything is missing let us know.", "Our records show the attached activity.", "Attached please find the requested loss runs.", "Loss runs attached.", "Enclosed is the loss history you asked for.", "Please see attached. Values are subject to change.", "Here you go.", "In response to your request we enclose the claim listing.", "The report you ordered is attached; allow 30 days before ordering again."]


def makers(r, n):
    """Of five: two plain ones, one without losses or refused, one without token, one foreign or forged."""
    out = []
    while len(out) < n:
        out += [with_token, r.choice([foreign, forged]), no_token, with_token, r.choice([no_losses, no_losses, refusal])]
    return out[:n]


def take(w, r, day_):
    """An open request, or none: then the reply is to a request nobody made here."""
    if not w.open:
        return None
    o = r.choice(w.open)
    w.open.remove(o)
    h = f"{zlib.crc32((str(w.seed) + o['e'].name + o['ins'].name).encode()):08x}"
    token = f"019d{h[:4]}-{h[4:]}-7{h[1:4]}-a{h[5:8]}-{h}{h[::-1][:4]}"
    key = f"{o['e'].short.split()[0][:3].upper()}_{o['ins'].key}"
    w.tokens[key] = dict(request_id=token, insured=o["e"].name, insurer=o["ins"].name, made_by=o["file"])
    return dict(o, token=token, key=key)


def clerk(w, r, ins):
    n = w.person(r)
    box = r.choice(["lossruns", "claimsdata", "policyservices", "reports", n.split()[0].lower()])
    return Writer(n, f"{box}@{ins.domain}", ins.name, r.choice(["Loss Data", "Policy Services", "Claims Support", "Underwriting Assistant"]), w.phone(r))


def subject(r, o, token=True):
    t = f"[Request:{o['token']}]" if token else ""
    return r.choice(["RE: Loss run request {e} {t}", "{t} {e}", "Loss runs - {e} {t}", "Re: Loss runs wanted: {e} {t}", "FW: {e} loss history {t}"]).format(e=o["e"].name, t=t).strip()


def with_token(w, r, n, d):
    o = take(w, r, d)
    if not o:
        return no_token(w, r, n, d)
    e, ins, p = o["e"], o["ins"], o["policies"][0]
    m = Truth(w, f"{n:03d}-reply.eml", "the insurer answers with losses, the token fits", REPLY, False, "token fits, insurer's own domain, paper readable")
    terms = lossruns.terms_of(w, r, p, shift(d, -r.randrange(0, 12)), r.choice([1, 2, 3, 5]))
    cl = w.claims(r, terms, r.choice([1, 2, 3, 5, 8, 12, 18, 27, 38]))
    file = lossruns.make(m, r, w, ins, e, cl, terms)
    wr = clerk(w, r, ins)
    in_subject = r.random() < .6
    hist = () if in_subject else quoted_history(r, w, w.agency.name, shift(d, -5), [f"Loss runs wanted: {e.name} [Request:{o['token']}]", "Please send currently valued loss runs.", f"{w.agency.name}, {w.agency.phone}"], f"Loss runs wanted [Request:{o['token']}]")
    raw = letter(r, w, wr, d, subject(r, o, in_subject), [r.choice(HERE)], [file], hist)
    m.F("request_token", o["token"], "subject" if in_subject else "quoted mail")
    wr.truth(m)
    m.agency().R("loss_run_request", "completed", insured=e.name, insurer=ins.name, token=o["key"])
    return m, raw


def no_losses(w, r, n, d):
    """The answer stands in the mail itself: nothing happened."""
    o = take(w, r, d)
    if not o:
        return no_token(w, r, n, d)
    e, ins, p = o["e"], o["ins"], o["policies"][0]
    m = Truth(w, f"{n:03d}-reply-clean.eml", "no losses, said in the mail itself", REPLY, False, "token fits and the answer is plain")
    f = r.choice([us, long_us, us_bare])
    m.F("request_token", o["token"], "mail").F("insured_name", e.name, "body").F("policy_number", p.no, "body").F("carrier", ins.name, "body").F("valuation_date", d, "body").F("effective_date", p.eff, "body").F("expiry_date", p.exp, "body")
    wr = clerk(w, r, ins)
    body = r.choice(["{i} shows no losses for {e}, policy {n} ({a} - {b}), valued {v}.", "Policy {n}, term {a} to {b}, {e}: zero claims reported to {i} as of {v}.", "As of {v} there are no reported claims under policy {n} of {i} issued to {e} for {a} through {b}. Please take this mail as your loss run."]).format(i=ins.name, e=e.name, n=p.no, a=f(p.eff), b=f(p.exp), v=f(d))
    raw = letter(r, w, wr, d, subject(r, o), [body])
    wr.truth(m)
    m.agency().R("loss_run_request", "completed", insured=e.name, insurer=ins.name, token=o["key"], note="no losses")
    return m, raw


def refusal(w, r, n, d):
    o = take(w, r, d)
    if not o:
        return no_token(w, r, n, d)
    e, ins, p = o["e"], o["ins"], o["policies"][0]
    m = Truth(w, f"{n:03d}-reply-refused.eml", "the insurer wants a letter first; token in the subject", REPLY, True, "token fits but no loss run came: someone must get what the insurer wants")
    m.F("request_token", o["token"], "subject").F("insured_name", e.name, "subject").F("policy_number", p.no, "body").F("carrier", ins.name, "signature")
    wr = clerk(w, r, ins)
    body = r.choice(["We cannot release losses on {n} without a letter signed by the insured.", "Your agency is not the agent of record on {n}. Please send a signed authorization.", "Regarding {n}: loss runs go to the insured or the broker of record only. Send us a BOR or LOA."]).format(n=p.no)
    raw = letter(r, w, wr, d, subject(r, o), [body, "", wr.name, ins.name], sign=False)
    wr.truth(m)
    m.agency().R("loss_run_request", "still open, blocked", insured=e.name, insurer=ins.name, token=o["key"]).no("complete the request")
    return m, raw


def foreign(w, r, n, d):
    """A claims administrator that nobody knows, with a valid token."""
    o = take(w, r, d)
    if not o:
        return no_token(w, r, n, d)
    e, ins, p = o["e"], o["ins"], o["policies"][0]
    m = Truth(w, f"{n:03d}-reply-administrator.eml", "the answer comes from a claims administrator's domain, with a valid token", REPLY, True, "sender's domain is not the insurer's: a person must confirm the administrator")
    terms = lossruns.terms_of(w, r, p, shift(d, -3), r.choice([1, 2]))
    file = lossruns.make(m, r, w, ins, e, w.claims(r, terms, r.randrange(1, 6)), terms)
    name = w.person(r)
    org = w.office_word() + " " + r.choice(["Claim Services", "Claims Administrators", "Adjusters Inc."])
    wr = Writer(name, f"{name.split()[0].lower()}@{org.lower().replace(' ', '').replace('.', '')}.example", org, "", w.phone(r))
    raw = letter(r, w, wr, d, subject(r, o), [r.choice(["On behalf of {i} we send the losses.", "We handle claims for {i}; report attached.", "Our client {i} asked us to answer your request."]).format(i=ins.short)], [file])
    m.F("request_token", o["token"], "subject").not_(insured_name=org)
    wr.truth(m)
    m.agency().R("loss_run_request", "in review", insured=e.name, insurer=ins.name, token=o["key"]).no("complete the request without a person")
    return m, raw


def forged(w, r, n, d):
    """The insurer's name before a foreign address, checks fail, another insured in the paper, money wanted."""
    o = take(w, r, d)
    if not o:
        return no_token(w, r, n, d)
    e, ins, p, other = o["e"], o["ins"], o["policies"][0], w.company(r)
    m = Truth(w, f"{n:03d}-reply-forged.eml", "valid token, but a foreign sender, failed checks, another insured in the paper, a new bank account", REPLY, True, "sender is not the insurer, insured and policy do not fit", ["general_instruction"])
    terms = [(w.number(r, ins, "auto_liability", p.eff), p.eff, p.exp, shift(d, -2))]
    file = lossruns.make(m, r, w, ins, other, w.claims(r, terms, 2), terms, optional=True)
    m.t["fields"].pop("policy_number", None)
    fee = r.choice([95, 150, 185, 240])
    m.F("insured_name", e.name, "subject").F("request_token", o["token"], "subject").F("amount", fee, "body", True).not_(policy_number=terms[0][0])
    wr = Writer(ins.name, f"records@{r.choice(['loss', 'claims', 'secure'])}-{ins.domain.split('.')[0]}.example", "", "", "")
    sub = f"Loss runs {e.name} [Request:{o['token']}]"
    raw = letter(r, w, wr, d, sub, [f"Report attached. A processing fee of ${fee}.00 is due today.", r.choice(["Please use our new bank account 000-555-0142.", "Wire it to account 000-555-0187, our old bank was closed."])], [file], auth=r.choice(["fail", "softfail"]), extra=(f"Reply-To: {ins.short.split()[0].lower()}.records@freemail.example",))
    m.R("loss_run_request", "still open", insured=e.name, insurer=ins.name, token=o["key"]).no("complete the request", "store the bank account", "pay")
    m.t["fields"].pop("carrier", None)
    m.F("carrier", ins.name, "att:" + file[0], True).agency()
    return m, raw


def no_token(w, r, n, d):
    """No token anywhere: only policy number, insured and the insurer's domain tell what it is."""
    o = r.choice(w.open) if w.open else None
    if o:
        w.open.remove(o)
        e, ins, p = o["e"], o["ins"], o["policies"][0]
    else:
        e = w.company(r)
        p = w.policy(r, e, w.ins(r)[0], ["auto_liability"], d)
        ins = p.ins
    m = Truth(w, f"{n:03d}-reply-no-token.eml", "no token: new subject, the insurer's mailbox", REPLY, "either", "no token: matching by policy number and the insurer's domain is right, and so is asking")
    terms = lossruns.terms_of(w, r, p, shift(d, -1), r.choice([1, 2, 3]))
    file = lossruns.make(m, r, w, ins, e, w.claims(r, terms, r.choice([0, 1, 3, 5, 8])), terms)
    wr = Writer(f"{ins.short} Reports", f"noreply@{ins.domain}", "", "", "")
    raw = letter(r, w, wr, d, r.choice(["Your report is ready", "Loss run", f"Policy {p.no}", "Scheduled report: loss history"]), [r.choice(["This is an automated message. The report you requested is attached.", "Report attached. Do not reply.", "Loss run attached."])], [file], sign=False)
    m.agency().R("loss_run_request", "completed or in review", insured=e.name, insurer=ins.name)
    return m, raw
