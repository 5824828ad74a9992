import type mongoose from 'mongoose'
import type { Database } from '#shared/db/connection/connect.ts'
import { commandsOf } from '#test/support/commands-of.ts'

/** What a question cost the store, in documents and index keys. */
export interface Cost {
  readonly documents: number
  readonly keys: number
  /** Documents given back, changed, removed or added. */
  readonly returned: number
  /** Milliseconds from asking to the answer; for reading only, nothing checks it. */
  readonly tookMs: number
  /** How the store found its documents, command by command. */
  readonly plans: readonly string[]
}

/** Commands that read no documents of ours. */
const NOT_COUNTED = new Set(['profile', 'commitTransaction', 'abortTransaction', 'endSessions', 'killCursors'])

/**
 * Asks, and reads from the store's own profiler what it examined: the figures that `explain('executionStats')` gives, for the
 * commands as they were sent, cursors and updates included. Nobody else may use the database meanwhile.
 */
export async function costOf(db: Database, query: () => unknown): Promise<Cost> {
  let tookMs = 0
  const commands = await commandsOf(db, async () => {
    const begun = performance.now()
    await query()
    tookMs = performance.now() - begun
  })
  const entries = commands.filter(isCounted)
  const sum = (...fields: readonly string[]): number =>
    entries.reduce((total, entry) => total + fields.reduce((all, field) => all + Number(entry[field] ?? 0), 0), 0)
  return {
    documents: sum('docsExamined'),
    keys: sum('keysExamined'),
    returned: sum('nreturned', 'nMatched', 'ndeleted', 'ninserted', 'nUpserted'),
    tookMs,
    plans: entries.map((entry) => `${entry['op']} ${entry['ns']}: ${entry['planSummary'] ?? 'no plan'}`),
  }
}

function isCounted(entry: mongoose.mongo.Document): boolean {
  const [command = ''] = Object.keys(entry['command'] ?? {})
  return !NOT_COUNTED.has(command)
}
