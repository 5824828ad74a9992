-------------------------------- MODULE Clocks --------------------------------
(***************************************************************************)
(* Whose clock decides: one row whose insert is its claim, and one retry.  *)
(* Delivery.tla has no clocks; this is what it takes for granted. Lengths  *)
(* are ticks of the store's clock. A process reads a clock that is wrong   *)
(* by one of Skews. README.md says how to run it.                          *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
  Skews,      \* by so many ticks, ahead or behind, a process's own clock may be wrong
  TimeMax,
  Lease,      \* length of a claim
  SendBefore, \* a request begins within this time of the claim's beginning, by the process's own measure
  Request,    \* the longest time that a request takes
  Delay,      \* pause before a retry
  Mistakes

Planted(name) == name \in Mistakes
VARIABLES now, startedAt, claim, retry, stolen, early
vars == <<now, startedAt, claim, retry, stolen, early>>

Init ==
  /\ now = 0 /\ startedAt = -1 /\ stolen = FALSE /\ early = FALSE
  /\ claim = [st |-> "none", ends |-> 0, until |-> 0] /\ retry = [st |-> "none", due |-> 0, may |-> 0]
Tick == now < TimeMax /\ now' = now + 1 /\ UNCHANGED <<startedAt, claim, retry, stolen, early>>
\* The process notes its monotonic time, then sends the insert; the store may carry it out at any later moment.
Start == startedAt = -1 /\ startedAt' = now /\ UNCHANGED <<now, claim, retry, stolen, early>>
Skewed == {now + k : k \in Skews} \cup {now - k : k \in Skews}
Insert ==
  /\ startedAt >= 0 /\ claim.st = "none"
  /\ \E end \in IF Planted("lease-by-worker") THEN {t + Lease : t \in Skewed} ELSE {now + Lease} :
       claim' = [st |-> "held", ends |-> end, until |-> 0]
  /\ UNCHANGED <<now, startedAt, retry, stolen, early>>
\* Durations are measured on one machine and are right whatever its clock says.
Begun == IF Planted("send-deadline-after-insert") THEN TRUE ELSE now < startedAt + SendBefore
Send ==
  /\ claim.st = "held" /\ Begun /\ claim' = [claim EXCEPT !.st = "sent", !.until = now + Request]
  /\ UNCHANGED <<now, startedAt, retry, stolen, early>>
TakenOver ==
  /\ claim.st \in {"held", "sent"} /\ now >= claim.ends
  /\ stolen' = (stolen \/ (claim.st = "sent" /\ now < claim.until)) /\ claim' = [claim EXCEPT !.st = "over"]
  /\ UNCHANGED <<now, startedAt, retry, early>>
Fail ==
  /\ retry.st = "none"
  /\ \E due \in IF Planted("retry-by-worker") THEN {t + Delay : t \in Skewed} ELSE {now + Delay} :
       retry' = [st |-> "waits", due |-> due, may |-> now + Delay]
  /\ UNCHANGED <<now, startedAt, claim, stolen, early>>
Again ==
  /\ retry.st = "waits" /\ now >= retry.due /\ retry' = [retry EXCEPT !.st = "done"] /\ early' = (now < retry.may)
  /\ UNCHANGED <<now, startedAt, claim, stolen>>
Next == Tick \/ Start \/ Insert \/ Send \/ TakenOver \/ Fail \/ Again
Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Tick) /\ WF_vars(TakenOver) /\ WF_vars(Again)

\* Nobody takes a row over while its request may still be on its way.
NoneStolen == ~stolen
NoneEarly == ~early
TimePasses == [][now' >= now]_now
\* What was claimed is free again in the end, whatever became of the process.
LeaseEnds == (claim.st \in {"held", "sent"} /\ claim.ends <= TimeMax) ~> (claim.st = "over")
===============================================================================
