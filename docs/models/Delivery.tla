------------------------------- MODULE Delivery -------------------------------
(***************************************************************************)
(* The planned webhook path: the relay makes the first attempt, and the    *)
(* insert of a delivery row is its claim. README.md says what is modelled, *)
(* what is left out, and how to run it; decision 0064 has the design.      *)
(*                                                                         *)
(* A worker is a whole process: relay, first attempts and retries. Its     *)
(* variables rel, seen, trims and jobs are memory and end with it; the     *)
(* store (ver, outbox, events, row, ep, pauses) survives every crash.      *)
(* Time is abstract: a lease ends and a retry falls due at any moment.     *)
(* `claims` names the lease token. It outlives a purge here, as the random *)
(* tokens of the product do.                                               *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  I, S, E, W,   \* invoices, positions of their changes (1..n), endpoints, processes
  Late,         \* endpoints that are registered only later
  Old,          \* processes of the version before: they insert every row pending
  AttemptsMax, ChangesMax, OpsMax, FaultsMax, JobsMax,
  Mistakes      \* names of planted mistakes; {} is the design

Planted(name) == name \in Mistakes

VARIABLES
  ver, outbox,  \* invoice -> number of changes; positions that are not trimmed
  events,       \* change -> whose bytes are stored; "-" without an event
  row,          \* delivery -> [ph, att, claims, held]
  ep, pauses,   \* endpoint -> state; number of its last pause
  recent,       \* endpoints that were paused or deleted less than a second ago
  during,       \* change -> endpoint -> number of the pause it was made in; 0 for none
  adm,          \* endpoint -> second write of an operation that has begun
  rel,          \* worker -> [pc, batch, list, mine]: the batch being relayed
  seen, trims,  \* worker -> entries made durable; entries whose trim is still to be written
  jobs,         \* worker -> set of [r, pc, claims, att, ep, bytes]: rows in its hands
  owed, never,  \* ghosts: deliveries that must exist; that must not exist
  sent, ended,  \* ghosts: attempts that were sent; rows whose lease ended once
  bad, used     \* ghosts: what went wrong in a step; what the environment spent

vars == <<ver, outbox, events, row, ep, pauses, recent, during, adm, rel, seen, trims, jobs, owed, never, sent, ended, bad, used>>
store == <<ver, outbox, events, row, ep, pauses, recent, during, adm>>
ghosts == <<owed, never, sent, ended, bad>>
memory == <<rel, seen, trims, jobs>>
operators == <<ep, pauses, recent, during, adm>>

Rows == I \X S \X E
Change(r) == <<r[1], r[2]>>
Idle == [pc |-> "idle", batch |-> {}, list |-> {}, mine |-> {}]
NoRow == [ph |-> "none", att |-> 0, claims |-> 0, held |-> FALSE]
Final == {"ok", "failed"}
Waiting == {"wait", "due", "leased", "over"}
Sym == Permutations(I) \cup Permutations(W \ Old)

Init ==
  /\ ver = [i \in I |-> 0] /\ outbox = [i \in I |-> {}] /\ events = [b \in I \X S |-> "-"]
  /\ row = [r \in Rows |-> NoRow]
  /\ ep = [e \in E |-> IF e \in Late THEN "none" ELSE "on"] /\ pauses = [e \in E |-> 0] /\ recent = {}
  /\ during = [b \in I \X S |-> [e \in E |-> 0]] /\ adm = [e \in E |-> "-"]
  /\ rel = [w \in W |-> Idle] /\ seen = [w \in W |-> {}] /\ trims = [w \in W |-> {}] /\ jobs = [w \in W |-> {}]
  /\ owed = {} /\ never = {} /\ sent = {} /\ ended = {} /\ bad = {}
  /\ used = [changes |-> 0, faults |-> 0, ops |-> 0]
Use(what) == used' = [used EXCEPT ![what] = @ + 1]
Fault == used.faults < FaultsMax /\ Use("faults")

-----------------------------------------------------------------------------
(* Writers: a change and its outbox entry are one write. The time of the change decides who gets it. *)
Commit(i) ==
  /\ used.changes < ChangesMax /\ ver[i] + 1 \in S
  /\ LET s == ver[i] + 1 IN
     /\ ver' = [ver EXCEPT ![i] = s] /\ outbox' = [outbox EXCEPT ![i] = @ \cup {s}]
     /\ during' = [during EXCEPT ![<<i, s>>] = [e \in E |-> IF ep[e] = "off" THEN pauses[e] ELSE 0]]
     /\ owed' = owed \cup {<<i, s, e>> : e \in {x \in E : ep[x] = "on"}}
     /\ never' = never \cup {<<i, s, e>> : e \in {x \in E : ep[x] = "gone"}}
  /\ Use("changes")
  /\ UNCHANGED <<events, row, ep, pauses, recent, adm, memory, sent, ended, bad>>

(* Operators: the endpoint is one write, its rows another one that may never come. *)
Op(e, from, to, then) ==
  /\ used.ops < OpsMax /\ ep[e] \in from /\ Use("ops")
  /\ ep' = [ep EXCEPT ![e] = to] /\ adm' = [adm EXCEPT ![e] = then]
  /\ recent' = IF to \in {"off", "gone"} THEN recent \cup {e} ELSE recent \ {e}
  /\ pauses' = IF to = "off" THEN [pauses EXCEPT ![e] = @ + 1] ELSE pauses
  /\ owed' = IF to = "gone" THEN {o \in owed : o[3] # e} ELSE owed
  /\ UNCHANGED <<ver, outbox, events, row, during, memory, never, sent, ended, bad>>
Register(e) == Op(e, {"none"}, "on", "-")
Pause(e) == Op(e, {"on"}, "off", "hold")
Resume(e) == Op(e, {"off"}, "on", "unhold")
Delete(e) == Op(e, {"on", "off"}, "gone", "purge")
SecondPasses(e) ==
  /\ e \in recent /\ recent' = recent \ {e}
  /\ UNCHANGED <<ver, outbox, events, row, ep, pauses, during, adm, memory, ghosts, used>>
Held(e) == [r \in Rows |-> IF r[3] = e /\ row[r].ph \in {"wait", "due"} THEN [row[r] EXCEPT !.held = TRUE] ELSE row[r]]
Unheld(e) == [r \in Rows |-> IF r[3] = e THEN [row[r] EXCEPT !.held = FALSE] ELSE row[r]]
Purged(e) == [r \in Rows |-> IF r[3] = e /\ row[r].ph \in Waiting THEN [NoRow EXCEPT !.claims = row[r].claims] ELSE row[r]]
OperatorRows(e) ==
  /\ adm[e] # "-" /\ adm' = [adm EXCEPT ![e] = "-"]
  /\ row' = CASE adm[e] = "hold" -> Held(e) [] adm[e] = "unhold" -> Unheld(e) [] OTHER -> Purged(e)
  /\ UNCHANGED <<ver, outbox, events, ep, pauses, recent, during, memory, ghosts, used>>
OperatorDies(e) ==
  /\ adm[e] # "-" /\ adm' = [adm EXCEPT ![e] = "-"]
  /\ UNCHANGED <<ver, outbox, events, row, ep, pauses, recent, during, memory, ghosts, used>>
HeldLoop(e) ==
  /\ (\E r \in Rows : r[3] = e /\ row[r].held) /\ ep[e] \in {"on", "gone"}
  /\ row' = IF ep[e] = "on" THEN Unheld(e) ELSE Purged(e)
  /\ UNCHANGED <<ver, outbox, events, operators, memory, ghosts, used>>

-----------------------------------------------------------------------------
(* Relay: read entries, then endpoints; make events durable, then rows; send what the inserts claimed; trim later. *)
Entries == {b \in I \X S : b[2] \in outbox[b[1]]}
Unseen(w) == {b \in Entries : IF Planted("seen-by-invoice") THEN ~ \E x \in seen[w] : x[1] = b[1] ELSE b \notin seen[w]}
\* An endpoint as the relay reads it: its state and its last pause.
Endpoints == {<<e, ep[e], pauses[e]>> : e \in {x \in E : ep[x] \in {"on", "off"}}}
ListFirst == Planted("endpoints-before-entries")

Read(w) ==
  /\ rel[w].pc = "idle" /\ Unseen(w) # {}
  /\ rel' = [rel EXCEPT ![w] = [pc |-> "read", batch |-> Unseen(w), list |-> IF ListFirst THEN @.list ELSE {}, mine |-> {}]]
  /\ trims' = IF Planted("trim-before-rows") THEN [trims EXCEPT ![w] = @ \cup Unseen(w)] ELSE trims
  /\ seen' = IF Planted("trim-before-rows") THEN [seen EXCEPT ![w] = @ \cup Unseen(w)] ELSE seen
  /\ UNCHANGED <<store, jobs, ghosts, used>>
CacheList(w) ==
  /\ ListFirst /\ rel[w].pc = "idle" /\ rel[w].list # Endpoints
  /\ rel' = [rel EXCEPT ![w].list = Endpoints]
  /\ UNCHANGED <<store, seen, trims, jobs, ghosts, used>>
\* Who wrote the bytes counts only for the mistake that sends other ones.
Writer(w) == IF Planted("own-bytes") THEN w ELSE "stored"
Prepare(w) ==
  /\ rel[w].pc = "read"
  /\ events' = [b \in I \X S |-> IF b \in rel[w].batch /\ events[b] = "-" THEN Writer(w) ELSE events[b]]
  /\ rel' = [rel EXCEPT ![w].pc = IF Planted("send-before-rows") THEN "early" ELSE "ready", ![w].list = IF ListFirst THEN @ ELSE Endpoints]
  /\ UNCHANGED <<ver, outbox, row, operators, seen, trims, jobs, ghosts, used>>
Gets(b, x) == IF Planted("recipients-by-state") THEN x[2] = "on" ELSE during[b][x[1]] = 0 \/ during[b][x[1]] # x[3]
Wanted(w) == {<<p[1][1], p[1][2], p[2][1]>> : p \in {q \in rel[w].batch \X rel[w].list : Gets(q[1], q[2])}}
New(w) == {r \in Wanted(w) : row[r].ph = "none"}
First(w, r, claims) ==
  [r |-> r, pc |-> "claimed", claims |-> claims, att |-> 0, ep |-> "on",
   bytes |-> IF Planted("own-bytes") THEN w ELSE events[Change(r)]]
SendEarly(w) ==
  /\ rel[w].pc = "early" /\ rel' = [rel EXCEPT ![w].pc = "ready"]
  /\ jobs' = [jobs EXCEPT ![w] = @ \cup {First(w, r, 1) : r \in Wanted(w)}]
  /\ UNCHANGED <<store, seen, trims, ghosts, used>>
\* Endpoints whose rows are inserted claimed: any that were read as enabled, if the process has room; none in the version before.
Enabled(w) == {x[1] : x \in {y \in rel[w].list : y[2] = "on" \/ Planted("claims-for-paused")}}
Room(w) == IF w \in Old \/ Cardinality(jobs[w]) >= JobsMax THEN {{}} ELSE SUBSET Enabled(w)
Put(new, room) ==
  [r \in Rows |-> IF r \notin new THEN row[r]
                  ELSE IF r[3] \in room THEN [NoRow EXCEPT !.ph = "leased", !.claims = row[r].claims + 1]
                  ELSE [NoRow EXCEPT !.ph = "due", !.claims = row[r].claims]]
Claimed(new, room) == {<<r, row[r].claims + 1>> : r \in {x \in new : x[3] \in room}}
\* After an answer that was lost: the rows that carry the token of the command that was repeated.
StillMine(w) ==
  IF Planted("unknown-is-ours") THEN {<<r, row[r].claims>> : r \in {x \in Wanted(w) : \E m \in rel[w].mine : m[1] = x}}
  ELSE {m \in rel[w].mine : row[m[1]].ph \in {"leased", "over"} /\ row[m[1]].claims = m[2]}
Met(w) == IF Planted("duplicate-sends") THEN {<<r, 0>> : r \in Wanted(w) \ New(w)} ELSE {}
Insert(w) ==
  /\ rel[w].pc = "ready"
  /\ \E room \in IF Planted("send-before-rows") THEN {Enabled(w)} ELSE Room(w) :
       /\ row' = Put(New(w), room)
       /\ jobs' = IF Planted("send-before-rows") THEN jobs
                  ELSE [jobs EXCEPT ![w] = @ \cup {First(w, m[1], m[2]) : m \in Claimed(New(w), room) \cup StillMine(w) \cup Met(w)}]
  /\ seen' = [seen EXCEPT ![w] = @ \cup rel[w].batch]
  /\ trims' = IF Planted("trim-before-rows") THEN trims ELSE [trims EXCEPT ![w] = @ \cup rel[w].batch]
  /\ rel' = [rel EXCEPT ![w] = [Idle EXCEPT !.list = IF ListFirst THEN rel[w].list ELSE {}]]
  /\ UNCHANGED <<ver, outbox, events, operators, ghosts, used>>
\* Some rows or all of them are stored, and the answer is lost: the command is repeated with the same token.
InsertUnknown(w) ==
  /\ rel[w].pc = "ready" /\ rel[w].mine = {} /\ Fault
  /\ \E new \in SUBSET New(w) : \E room \in Room(w) :
       new # {} /\ row' = Put(new, room) /\ rel' = [rel EXCEPT ![w].mine = Claimed(new, room)]
  /\ UNCHANGED <<ver, outbox, events, operators, seen, trims, jobs, ghosts>>
Through(w) == [i \in I |-> {s \in outbox[i] : ~ \E b \in trims[w] : b[1] = i /\ (Planted("trim-all") \/ s <= b[2])}]
Trim(w) ==
  /\ trims[w] # {} /\ outbox' = Through(w)
  /\ seen' = [seen EXCEPT ![w] = @ \ trims[w]] /\ trims' = [trims EXCEPT ![w] = {}]
  /\ UNCHANGED <<ver, events, row, operators, rel, jobs, ghosts, used>>
\* The write failed every time: the entries are forgotten, so that they are read again.
TrimGivenUp(w) ==
  /\ trims[w] # {} /\ Fault
  /\ trims' = [trims EXCEPT ![w] = {}] /\ seen' = IF Planted("seen-kept") THEN seen ELSE [seen EXCEPT ![w] = @ \ trims[w]]
  /\ UNCHANGED <<store, rel, jobs, ghosts>>
SeenLost(w) ==
  /\ seen[w] # {} /\ Fault /\ seen' = [seen EXCEPT ![w] = {}]
  /\ UNCHANGED <<store, rel, trims, jobs, ghosts>>

-----------------------------------------------------------------------------
(* Retries and rows of others: find, claim by compare-and-set, look at the endpoint. Then what both paths share. *)
IsDue(r) == row[r].ph \in {"due", "over"} /\ ~row[r].held
Holds(j) == row[j.r].ph \in {"leased", "over"} /\ row[j.r].claims = j.claims
Swap(w, j, new) == [jobs EXCEPT ![w] = (@ \ {j}) \cup new]
\* Paused or deleted, and the time in which what was read before still counts is over.
Stale(j) == ep[j.r[3]] \in {"off", "gone"} /\ j.r[3] \notin recent

Find(w, r) ==
  /\ IsDue(r) /\ Cardinality(jobs[w]) < JobsMax /\ ~ \E j \in jobs[w] : j.r = r /\ j.pc = "found"
  /\ jobs' = [jobs EXCEPT ![w] = @ \cup {[r |-> r, pc |-> "found", claims |-> row[r].claims, att |-> row[r].att, ep |-> "-", bytes |-> events[Change(r)]]}]
  /\ UNCHANGED <<store, rel, seen, trims, ghosts, used>>
Claim(w, j) ==
  /\ j.pc = "found"
  /\ IF IsDue(j.r) /\ row[j.r].claims = j.claims /\ row[j.r].att = j.att
     THEN /\ row' = [row EXCEPT ![j.r].ph = "leased", ![j.r].claims = @ + 1, ![j.r].att = IF Planted("claim-counts") THEN @ + 1 ELSE @]
          /\ jobs' = Swap(w, j, {[j EXCEPT !.pc = "claimed", !.claims = @ + 1, !.ep = ep[j.r[3]]]})
     ELSE row' = row /\ jobs' = Swap(w, j, {})
  /\ UNCHANGED <<ver, outbox, events, operators, rel, seen, trims, ghosts, used>>
DropGone(w, j) ==
  /\ j.pc = "claimed" /\ j.ep = "gone" /\ row' = Purged(j.r[3]) /\ jobs' = Swap(w, j, {})
  /\ UNCHANGED <<ver, outbox, events, operators, rel, seen, trims, ghosts, used>>
PutAside(w, j) ==
  /\ j.pc = "claimed" /\ j.ep = "off" /\ jobs' = Swap(w, j, {})
  /\ row' = IF Holds(j) THEN [Held(j.r[3]) EXCEPT ![j.r].held = TRUE, ![j.r].ph = "due"] ELSE Held(j.r[3])
  /\ UNCHANGED <<ver, outbox, events, operators, rel, seen, trims, ghosts, used>>
Back(j) == IF Holds(j) THEN [row EXCEPT ![j.r].ph = "due"] ELSE row
\* Just before the request: what was read of the endpoint is too old, so the claim is given back.
TooLate(w, j) ==
  /\ j.pc = "claimed" /\ j.ep = "on" /\ Stale(j) /\ row' = Back(j) /\ jobs' = Swap(w, j, {})
  /\ UNCHANGED <<ver, outbox, events, operators, rel, seen, trims, ghosts, used>>
Wrong(name, isTrue) == IF isTrue THEN {name} ELSE {}
Send(w, j) ==
  /\ j.pc = "claimed" /\ j.ep = "on" /\ (Planted("no-send-deadline") \/ ~Stale(j))
  /\ LET n == j.att + 1
         gone == ep[j.r[3]] = "gone" IN
     /\ sent' = sent \cup {<<j.r, n>>}
     /\ bad' = bad
          \cup Wrong("duplicate", <<j.r, n>> \in sent /\ j.r \notin ended /\ ~gone)
          \cup Wrong("no event", events[Change(j.r)] = "-")
          \cup Wrong("no row", row[j.r].ph = "none" /\ ~gone)
          \cup Wrong("number", Holds(j) /\ n # row[j.r].att + 1)
          \cup Wrong("newer than its endpoint", j.r \in never)
          \cup Wrong("stale endpoint", Stale(j))
          \cup Wrong("other bytes", j.bytes # events[Change(j.r)])
  /\ \E result \in {"sentok", "sentfail"} : jobs' = Swap(w, j, {[j EXCEPT !.pc = result]})
  /\ UNCHANGED <<store, rel, seen, trims, owed, never, ended, used>>
Record(w, j) ==
  /\ j.pc \in {"sentok", "sentfail"} /\ jobs' = Swap(w, j, {})
  /\ LET count == row[j.r].att + 1
         after == IF j.pc = "sentok" THEN "ok" ELSE IF count >= AttemptsMax THEN "failed" ELSE "wait"
         ours == IF Planted("no-fence") THEN row[j.r].ph # "none" ELSE Holds(j)
     IN row' = IF ours THEN [row EXCEPT ![j.r].ph = after, ![j.r].att = count] ELSE row
  /\ UNCHANGED <<ver, outbox, events, operators, rel, seen, trims, ghosts, used>>
\* The outcome is lost, or the row was not sent in time: left to the end of the lease.
GiveUp(w, j) ==
  /\ j.pc \in {"claimed", "sentok", "sentfail"} /\ Fault /\ jobs' = Swap(w, j, {})
  /\ UNCHANGED <<store, rel, seen, trims, ghosts>>
GiveBack(w, j) ==
  /\ j.pc = "claimed" /\ Fault /\ jobs' = Swap(w, j, {}) /\ row' = Back(j)
  /\ UNCHANGED <<ver, outbox, events, operators, rel, seen, trims, ghosts>>

Forget(w) ==
  /\ rel' = [rel EXCEPT ![w] = Idle] /\ seen' = [seen EXCEPT ![w] = {}]
  /\ trims' = [trims EXCEPT ![w] = {}] /\ jobs' = [jobs EXCEPT ![w] = {}]
Crash(w) == Fault /\ Forget(w) /\ (rel[w] # Idle \/ jobs[w] # {} \/ trims[w] # {}) /\ UNCHANGED <<store, ghosts>>
\* insertMany is no transaction: some rows are in when the process dies.
InsertSomeAndDie(w) ==
  /\ rel[w].pc = "ready" /\ Fault /\ Forget(w)
  /\ \E new \in SUBSET New(w) : \E room \in Room(w) : new # {} /\ row' = Put(new, room)
  /\ UNCHANGED <<ver, outbox, events, operators, ghosts>>

-----------------------------------------------------------------------------
HolderLives(r) == \/ \E w \in W : \E j \in jobs[w] : j.r = r /\ j.pc # "found" /\ Holds(j)
                  \/ \E w \in W : \E m \in rel[w].mine : m[1] = r /\ row[r].claims = m[2]
LeaseEnds(r) ==
  /\ row[r].ph = "leased" /\ ~(Planted("no-lease") /\ row[r].claims = 1)
  /\ IF HolderLives(r) THEN Fault ELSE used' = used
  /\ row' = [row EXCEPT ![r].ph = "over"] /\ ended' = ended \cup {r}
  /\ UNCHANGED <<ver, outbox, events, operators, memory, owed, never, sent, bad>>
FallsDue(r) ==
  /\ row[r].ph = "wait" /\ row' = [row EXCEPT ![r].ph = "due"]
  /\ UNCHANGED <<ver, outbox, events, operators, memory, ghosts, used>>

Relay(w) == Read(w) \/ CacheList(w) \/ Prepare(w) \/ SendEarly(w) \/ Insert(w)
Step(w, j) == Claim(w, j) \/ DropGone(w, j) \/ PutAside(w, j) \/ TooLate(w, j) \/ Send(w, j) \/ Record(w, j)
Dispatch(w) == (\E r \in Rows : Find(w, r)) \/ (\E j \in jobs[w] : Step(w, j))
Next ==
  \/ \E i \in I : Commit(i)
  \/ \E e \in E : Register(e) \/ Pause(e) \/ Resume(e) \/ Delete(e) \/ SecondPasses(e) \/ OperatorRows(e) \/ OperatorDies(e) \/ HeldLoop(e)
  \/ \E w \in W : Relay(w) \/ Trim(w) \/ Dispatch(w) \/ TrimGivenUp(w) \/ SeenLost(w) \/ Crash(w) \/ InsertSomeAndDie(w) \/ InsertUnknown(w)
                  \/ \E j \in jobs[w] : GiveUp(w, j) \/ GiveBack(w, j)
  \/ \E r \in Rows : LeaseEnds(r) \/ FallsDue(r)
Spec == Init /\ [][Next]_vars
\* Running processes, sweeps and timers go on. Faults and operators need not come.
Fair ==
  /\ \A w \in W : WF_vars(Relay(w)) /\ WF_vars(Trim(w)) /\ WF_vars(Dispatch(w))
  /\ \A e \in E : WF_vars(HeldLoop(e)) /\ WF_vars(SecondPasses(e))
  /\ \A r \in Rows : WF_vars(FallsDue(r)) /\ WF_vars(LeaseEnds(r) /\ ~HolderLives(r))
FairSpec == Spec /\ Fair

-----------------------------------------------------------------------------
(* Safety *)
NoLostEvent == \A o \in owed : o[2] \in outbox[o[1]] \/ row[o].ph # "none"
NoDuplicate == "duplicate" \notin bad
SentHasEvent == "no event" \notin bad
SentHasRow == "no row" \notin bad
RightNumber == "number" \notin bad
StoredBytes == "other bytes" \notin bad
FreshEndpoint == "stale endpoint" \notin bad
GoneGetsNothing == "newer than its endpoint" \notin bad /\ \A r \in never : row[r].ph = "none"
PausedGetsNothing == \A r \in Rows : row[r].ph # "none" => LET p == during[Change(r)][r[3]] IN p = 0 \/ p # pauses[r[3]]
CountsWereSent == \A r \in Rows : \A n \in 1..row[r].att : <<r, n>> \in sent
RowHasEvent == \A r \in Rows : row[r].ph # "none" => events[Change(r)] # "-"
OneHolder == \A r \in Rows : Cardinality({p \in W \X UNION {jobs[w] : w \in W} :
                p[2] \in jobs[p[1]] /\ p[2].r = r /\ p[2].pc # "found" /\ Holds(p[2])}) <= 1
FinalStays == [][\A r \in Rows : row[r].ph \in Final => row'[r] = row[r]]_vars
OnlyHolderCounts ==
  [][\A r \in Rows : (row'[r].att # row[r].att /\ row'[r].ph # "none") =>
        \E w \in W : \E j \in jobs[w] : j.pc \in {"sentok", "sentfail"} /\ j.r = r /\ Holds(j) /\ j \notin jobs'[w]]_vars
NoneEarly == [][\A r \in Rows : row[r].ph = "wait" => row'[r].ph \in {"wait", "due", "none"}]_vars

(* Liveness *)
Rests(r) == row[r].ph \in {"none", "ok", "failed"} \/ (row[r].held /\ ep[r[3]] = "off")
Settled == <>[](\A i \in I : outbox[i] = {} /\ \A r \in Rows : Rests(r))
OwedIsServed == <>[](\A o \in owed : row[o].ph # "none" /\ Rests(o))
===============================================================================
