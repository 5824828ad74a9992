import { z } from 'zod'

const auditBreak = z.object({
  /**
   * `removed`: a number is missing; `forked`: two rows carry one number, or a row was chained behind another row than its
   * predecessor; `moved`: a valid row under another number; `changed`: its content differs from what was chained or accepted; `forged`:
   * its hashes fit and its signature does not; `unsigned`: it carries no signature; `unknown_key`: the newest rows, the end or the record
   * of breaks are signed under a key that was not given; `cut`: the log ends before the place that was signed as its end or recorded
   * elsewhere, or has another row there; `outside`: a row is neither chained nor waits for it; `unrecorded`: a document has no row.
   */
  kind: z.enum([
    'removed',
    'forked',
    'moved',
    'changed',
    'forged',
    'unsigned',
    'unknown_key',
    'cut',
    'outside',
    'unrecorded',
  ]),
  seq: z.number(),
  /** The row found there, if any. */
  id: z.string().nullable(),
  /** One sentence for a person. */
  words: z.string(),
})

/** A place at which the audit log differs from what was written. */
export type AuditBreak = Readonly<z.infer<typeof auditBreak>>

const headMark = z.object({ seq: z.number(), hash: z.string() })

/** The last link as recorded outside the store: a store restored to an earlier state is consistent in itself. */
export type AuditHeadMark = Readonly<z.infer<typeof headMark>>

/** How far the audit log is verified. */
export const auditProgress = z.object({
  /** No break was found among the rows checked, none waits for an answer, and the end is where the mark outside of the store has it. */
  intact: z.boolean(),
  /** Every row up to the end was checked; false until the maintenance process has verified the rest. */
  complete: z.boolean(),
  checked: z.number(),
  total: z.number(),
  firstBreak: auditBreak.nullable(),
  head: headMark.nullable(),
  /** When the maintenance process began at the first row; null before its first run. */
  startedAt: z.number().nullable(),
  /** Rows not chained yet, counted up to 10,000. */
  waiting: z.number(),
  /** Breaks that a person answered. */
  answered: z.array(
    auditBreak.pick({ seq: true, words: true }).extend({ by: z.string(), at: z.number(), reason: z.string() }),
  ),
})

/** How far the audit log is verified. */
export type AuditProgress = z.infer<typeof auditProgress>
