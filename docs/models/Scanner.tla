-------------------------------- MODULE Scanner --------------------------------
(***************************************************************************)
(* The scanner of one network: the lease and its epoch, payments that are  *)
(* upserted under that epoch, the cursor, confirmations, reorganisations,  *)
(* and a holder that freezes and writes after another one took over.       *)
(* README.md says what is modelled, what is left out, and how to run it.   *)
(*                                                                         *)
(* One transaction, "the payment", stands in any block of any branch. A    *)
(* block is a number; what stands below it is its place in a sequence, so  *)
(* that two cursors are equal where the product compares two block hashes. *)
(* The epoch fences updates of a stored row. It cannot fence the insert of *)
(* a row that nobody has stored: that is what confirming has to find out.  *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
  W,            \* processes
  Blocks,       \* blocks that are ever mined, over all branches
  Confirm,      \* confirmations that a payment needs
  Window,       \* newest heights whose hashes the cursor remembers
  ReorgsMax, FaultsMax,
  Mistakes      \* names of planted mistakes; {} is the design

Planted(name) == name \in Mistakes

VARIABLES
  chain, other,  \* the node's branch as it shows it; a branch it showed before
  mined, has,    \* number of blocks; those that hold the payment
  cursor, recheck, epoch, owner, live,  \* the stored cursor with its lease
  row,           \* the stored payment
  s,             \* process -> its session
  bad, used      \* ghosts: what went wrong; what the environment spent

vars == <<chain, other, mined, has, cursor, recheck, epoch, owner, live, row, s, bad, used>>
node == <<chain, other, mined, has>>
lease == <<epoch, owner, live>>

Range(q) == {q[n] : n \in 1..Len(q)}
Cut(q, n) == SubSeq(q, 1, n)
IsPrefix(p, q) == Len(p) <= Len(q) /\ p = Cut(q, Len(p))
\* Height of the newest block that both have; 0 for none.
Fork(p, q) == CHOOSE n \in 0..Len(p) : n <= Len(q) /\ Cut(p, n) = Cut(q, n) /\ (n = Len(p) \/ n = Len(q) \/ p[n + 1] # q[n + 1])
Max(a, b) == IF a > b THEN a ELSE b
Out == [pc |-> "out", epoch |-> 0, cur |-> <<>>, blk |-> 0, ht |-> 0, recheck |-> 0, verdict |-> "-"]
NoRow == [st |-> "none", blk |-> 0, ht |-> 0, ep |-> 0]
Sym == Permutations(W)

Init ==
  /\ chain = <<>> /\ other = <<>> /\ mined = 0 /\ has = {}
  /\ cursor = <<>> /\ recheck = 0 /\ epoch = 0 /\ owner = "none" /\ live = FALSE
  /\ row = NoRow /\ s = [w \in W |-> Out] /\ bad = {} /\ used = [reorgs |-> 0, faults |-> 0]
Use(what) == used' = [used EXCEPT ![what] = @ + 1]
Fault == used.faults < FaultsMax /\ Use("faults")

-----------------------------------------------------------------------------
(* The node: blocks, forks, and branches that come back. A transaction stands once in a branch. *)
NewBlock(below) ==
  /\ mined < Blocks /\ mined' = mined + 1 /\ chain' = Append(below, mined + 1)
  /\ \E isIn \in BOOLEAN :
       /\ isIn => Range(below) \cap has = {}
       /\ has' = IF isIn THEN has \cup {mined + 1} ELSE has
Mine == NewBlock(chain) /\ UNCHANGED <<other, cursor, recheck, lease, row, s, bad, used>>
Reorganise ==
  /\ used.reorgs < ReorgsMax /\ Use("reorgs") /\ other' = chain
  /\ \E n \in 0..Len(chain) : n < Len(chain) /\ NewBlock(Cut(chain, n))
  /\ UNCHANGED <<cursor, recheck, lease, row, s, bad>>
ComeBack ==
  /\ used.reorgs < ReorgsMax /\ Use("reorgs") /\ other # <<>> /\ other # chain
  /\ chain' = other /\ other' = chain
  /\ UNCHANGED <<mined, has, cursor, recheck, lease, row, s, bad>>

-----------------------------------------------------------------------------
(* The lease. Its holder knows when it may have run out; what it asked for before that may still be on its way. *)
IsHeld(w) == owner = w /\ live
Acquire(w) ==
  /\ s[w].pc = "out" /\ (owner = "none" \/ ~live)
  /\ owner' = w /\ live' = TRUE /\ epoch' = IF owner = w \/ Planted("epoch-kept") THEN epoch ELSE epoch + 1
  /\ s' = [s EXCEPT ![w] = [Out EXCEPT !.pc = "due", !.epoch = epoch', !.cur = cursor, !.recheck = recheck]]
  /\ UNCHANGED <<node, cursor, recheck, row, bad, used>>
\* A holder that is dead, or (a fault) one that was frozen or cut off.
Expire ==
  /\ owner # "none" /\ live /\ live' = FALSE
  /\ IF owner = "dead" THEN used' = used ELSE Fault
  /\ UNCHANGED <<node, cursor, recheck, epoch, owner, row, s, bad>>
Leave(w) == s' = [s EXCEPT ![w] = Out] /\ owner' = (IF IsHeld(w) THEN "none" ELSE owner) /\ UNCHANGED <<live, epoch>>
Crash(w) ==
  /\ s[w].pc # "out" /\ Fault /\ s' = [s EXCEPT ![w] = Out] /\ owner' = (IF owner = w THEN "dead" ELSE owner)
  /\ UNCHANGED <<node, cursor, recheck, epoch, live, row, bad>>
\* Asked before each write of the product; here in the step that decides on the write, so that it may be late by any time.
Lost(w) ==
  /\ s[w].pc \in {"idle", "due"} /\ ~IsHeld(w) /\ Leave(w)
  /\ UNCHANGED <<node, cursor, recheck, row, bad, used>>

-----------------------------------------------------------------------------
(* Scanning: payments of a block, then the cursor, then confirmations. *)
\* Deep enough, as this session has the cursor.
Due(w) == row.st = "det" /\ row.ht + Confirm <= Len(s[w].cur) + 1
Go(w, fields) == s' = [s EXCEPT ![w] = fields]
Look(w) ==
  /\ s[w].pc = "idle" /\ IsHeld(w)
  /\ LET c == s[w].cur IN
     \/ /\ IsPrefix(c, chain) /\ Len(chain) > Len(c)
        /\ Go(w, [s[w] EXCEPT !.pc = IF Planted("cursor-first") THEN "cursor" ELSE "write", !.blk = chain[Len(c) + 1], !.ht = Len(c) + 1])
     \/ /\ ~IsPrefix(c, chain) /\ Len(chain) >= Len(c)
        /\ Go(w, [s[w] EXCEPT !.pc = IF Planted("rows-first") THEN "orphan" ELSE "back", !.ht = Fork(c, chain)])
     \/ chain = c /\ Due(w) /\ Go(w, [s[w] EXCEPT !.pc = "due"])
  /\ UNCHANGED <<node, cursor, recheck, lease, row, bad, used>>
Fenced(w) == row.ep > s[w].epoch /\ ~Planted("rows-not-fenced")
Seen(w) == [st |-> "det", blk |-> s[w].blk, ht |-> s[w].ht, ep |-> Max(s[w].epoch, row.ep)]
\* An upsert: a new row has no epoch to compare with.
Write(w) ==
  /\ s[w].pc = "write"
  /\ IF s[w].blk \notin has THEN Go(w, [s[w] EXCEPT !.pc = "strangers"]) /\ UNCHANGED <<row, lease>>
     ELSE IF row.st # "none" /\ Fenced(w) THEN Leave(w) /\ UNCHANGED row
     ELSE /\ row' = IF row.st \in {"none", "orph"} \/ row.blk # s[w].blk THEN Seen(w) ELSE [row EXCEPT !.ep = Max(@, s[w].epoch)]
          /\ Go(w, [s[w] EXCEPT !.pc = "strangers"]) /\ UNCHANGED lease
  /\ UNCHANGED <<node, cursor, recheck, bad, used>>
\* What stands at the height of this block, and not in it.
IsStranger(w) ==
  /\ row.ht = s[w].ht /\ row.blk # s[w].blk
  /\ row.st \in (IF s[w].ht <= s[w].recheck THEN {"det", "conf"} ELSE {"det"})
Orphan(w) == row' = [row EXCEPT !.st = "orph", !.ep = Max(@, s[w].epoch)]
Strangers(w) ==
  /\ s[w].pc = "strangers"
  /\ IF row.st = "none" \/ ~IsStranger(w) THEN Go(w, [s[w] EXCEPT !.pc = IF Planted("cursor-first") THEN "due" ELSE "cursor"]) /\ UNCHANGED <<row, lease>>
     ELSE IF Fenced(w) THEN Leave(w) /\ UNCHANGED row
     ELSE Orphan(w) /\ Go(w, [s[w] EXCEPT !.pc = IF Planted("cursor-first") THEN "due" ELSE "cursor"]) /\ UNCHANGED lease
  /\ UNCHANGED <<node, cursor, recheck, bad, used>>
\* One compare-and-set on the block and the epoch.
Stands(w) == cursor = s[w].cur /\ (epoch = s[w].epoch \/ Planted("cursor-not-fenced"))
Advance(w) ==
  /\ s[w].pc = "cursor"
  /\ IF Stands(w)
     THEN LET c == Append(s[w].cur, s[w].blk)
              r == IF Len(c) >= s[w].recheck THEN 0 ELSE s[w].recheck
          IN /\ cursor' = c /\ recheck' = r /\ UNCHANGED lease
             /\ Go(w, [s[w] EXCEPT !.pc = IF Planted("cursor-first") THEN "write" ELSE "due", !.cur = c, !.recheck = r])
     ELSE Leave(w) /\ UNCHANGED <<cursor, recheck>>
  /\ UNCHANGED <<node, row, bad, used>>

-----------------------------------------------------------------------------
(* Confirming: what is deep enough is compared with the blocks that the cursor remembers, then written under the epoch. *)
Remembered(h) == h <= Len(cursor) /\ h + Window > Len(cursor)
\* Of a height that is not remembered the node is asked, while it shows our branch.
Verdict ==
  IF Planted("strangers-not-checked") THEN "conf"
  ELSE IF Remembered(row.ht) THEN (IF cursor[row.ht] = row.blk THEN "conf" ELSE "orph")
  ELSE IF Planted("unknown-height-confirms") \/ row.ht > Len(cursor) THEN "conf"
  ELSE IF ~IsPrefix(cursor, chain) THEN "wait"
  ELSE IF chain[row.ht] = row.blk THEN "conf" ELSE "orph"
Decide(w) ==
  /\ s[w].pc = "due" /\ IsHeld(w)
  /\ IF Due(w) /\ Verdict # "wait" THEN Go(w, [s[w] EXCEPT !.pc = "settle", !.verdict = Verdict]) ELSE Go(w, [s[w] EXCEPT !.pc = "idle"])
  /\ UNCHANGED <<node, cursor, recheck, lease, row, bad, used>>
Settle(w) ==
  /\ s[w].pc = "settle"
  /\ IF ~Due(w) THEN Go(w, [s[w] EXCEPT !.pc = "idle", !.verdict = "-"]) /\ UNCHANGED <<row, lease, bad>>
     ELSE IF Fenced(w) THEN Leave(w) /\ UNCHANGED <<row, bad>>
     ELSE /\ row' = [row EXCEPT !.st = s[w].verdict, !.ep = Max(@, s[w].epoch)]
          /\ bad' = IF s[w].verdict = "conf" /\ row.blk \notin Range(s[w].cur) THEN bad \cup {"confirmed off the chain"} ELSE bad
          /\ Go(w, [s[w] EXCEPT !.pc = "idle", !.verdict = "-"]) /\ UNCHANGED lease
  /\ UNCHANGED <<node, cursor, recheck, used>>

-----------------------------------------------------------------------------
(* A fork: the cursor goes back first, and remembers how far payments were confirmed; then the payments above it are taken back. *)
After(pc) == IF Planted("rows-first") THEN (IF pc = "orphan" THEN "back" ELSE "idle") ELSE (IF pc = "back" THEN "orphan" ELSE "clear")
Back(w) ==
  /\ s[w].pc = "back"
  /\ IF Stands(w)
     THEN LET c == Cut(s[w].cur, s[w].ht)
              r == IF Planted("recheck-forgotten") \/ Planted("rows-first") THEN 0 ELSE Max(s[w].recheck, Len(s[w].cur))
          IN cursor' = c /\ recheck' = r /\ Go(w, [s[w] EXCEPT !.pc = After("back"), !.cur = c]) /\ UNCHANGED lease
     ELSE Leave(w) /\ UNCHANGED <<cursor, recheck>>
  /\ UNCHANGED <<node, row, bad, used>>
TakeBack(w) ==
  /\ s[w].pc = "orphan"
  /\ IF row.st \notin {"det", "conf"} \/ row.ht <= s[w].ht THEN Go(w, [s[w] EXCEPT !.pc = After("orphan")]) /\ UNCHANGED <<row, lease>>
     ELSE IF Fenced(w) THEN Leave(w) /\ UNCHANGED row
     ELSE Orphan(w) /\ Go(w, [s[w] EXCEPT !.pc = After("orphan")]) /\ UNCHANGED lease
  /\ UNCHANGED <<node, cursor, recheck, bad, used>>
Clear(w) ==
  /\ s[w].pc = "clear"
  /\ IF Stands(w) THEN recheck' = s[w].recheck /\ Go(w, [s[w] EXCEPT !.pc = "idle"]) /\ UNCHANGED lease ELSE Leave(w) /\ UNCHANGED recheck
  /\ UNCHANGED <<node, cursor, row, bad, used>>

Step(w) == Look(w) \/ Write(w) \/ Strangers(w) \/ Advance(w) \/ Decide(w) \/ Settle(w) \/ Back(w) \/ TakeBack(w) \/ Clear(w) \/ Lost(w)
Next == Mine \/ Reorganise \/ ComeBack \/ Expire \/ \E w \in W : Acquire(w) \/ Crash(w) \/ Step(w)
Spec == Init /\ [][Next]_vars
\* Processes go on, and a dead holder's lease ends. Nodes, faults and freezes need not do anything.
FairSpec == Spec /\ (\A w \in W : WF_vars(Acquire(w)) /\ WF_vars(Step(w))) /\ WF_vars(Expire /\ owner = "dead")

-----------------------------------------------------------------------------
(* Safety *)
ConfirmedOnChain == bad = {}
\* No block with the payment is passed before the payment is stored.
NothingPassed == (Range(cursor) \cap has # {}) => row.st # "none"
EpochsRise == [][epoch' >= epoch /\ row'.ep >= row.ep]_vars
OnlyNewestMovesCursor == [][cursor' # cursor => \E w \in W : s[w].pc \in {"cursor", "back"} /\ s[w].epoch = epoch /\ s[w] # s'[w]]_vars
OnlyNewestChangesRow ==
  [][(row.st # "none" /\ row' # row) => \E w \in W : s[w].epoch >= row.ep /\ s[w] # s'[w]]_vars

(* Liveness: in the end the payment is what the scanned chain says, wherever a holder froze. *)
Deep == row.ht + Confirm <= Len(cursor) + 1
Right ==
  /\ (Range(cursor) \cap has # {}) => (row.st \in {"det", "conf"} /\ row.blk \in Range(cursor) /\ (Deep => row.st = "conf"))
  /\ (row.st = "conf" \/ (row.st = "det" /\ Deep)) => row.blk \in Range(cursor)
\* A node whose branch is shorter than what was scanned is waited for.
EndsRight == <>[](chain = cursor => Right)
CatchesUp == <>[](chain = cursor \/ Len(chain) < Len(cursor))
================================================================================
