import { readdirSync, readFileSync } from 'node:fs'
import type { Database } from '#shared/db/connection/connect.ts'
import { pause } from './child.ts'

const PROFILE_BYTES = 64 * 1_024 * 1_024

/** How often the threads of a process stopped waiting since its start; null when it has ended. */
export function wakeUpsOf(pid: number | undefined): number | null {
  if (pid === undefined) return null
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
      const status = readFileSync(`/proc/${pid}/task/${task}/status`, 'utf8')
      return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1])
    }, 0)
  } catch {
    return null
  }
}

/** One kind of question that an installation asks its database. */
export interface Question {
  readonly text: string
  readonly perMinute: number
}

/**
 * Every command that the database gets within some seconds, by collection, command and the fields of its filter, the most frequent first.
 * MongoDB's profiler counts them, which costs it time: nothing else is measured meanwhile.
 */
export async function countQuestions({ connection }: Database, seconds: number): Promise<readonly Question[]> {
  const db = connection.db
  if (db === undefined) throw new Error('the database is not connected')
  await db.command({ profile: 0 })
  await db.dropCollection('system.profile').catch(() => false)
  // Its own size of 1 MB would keep the last seconds only.
  await db.createCollection('system.profile', { capped: true, size: PROFILE_BYTES })
  await db.command({ profile: 2, slowms: 0 })
  await pause(seconds * 1_000)
  await db.command({ profile: 0 })
  const found = await db
    .collection('system.profile')
    .find({ op: { $ne: 'getmore' } })
    .toArray()
  const counts = new Map<string, number>()
  for (const { ns, op, command } of found) {
    if (command === undefined || command['profile'] !== undefined) continue
    const text = `${String(ns).replace(/^[^.]+\./, '')} ${nameOf(op, command)}`
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts]
    .map(([text, count]) => ({ text, perMinute: (count * 60) / seconds }))
    .sort((one, other) => other.perMinute - one.perMinute)
}

function nameOf(op: string, command: Record<string, unknown>): string {
  const [name = op] = Object.keys(command)
  const filter = command['filter'] ?? command['q'] ?? command['query'] ?? firstMatch(command['pipeline'])
  return `${op === 'command' ? name : op} ${Object.keys(filter ?? {}).join(',')}`.trim()
}

function firstMatch(pipeline: unknown): object | undefined {
  return Array.isArray(pipeline) ? pipeline.find((stage) => stage.$match !== undefined)?.$match : undefined
}
