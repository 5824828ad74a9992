import { Redis } from 'ioredis'
import type { Database } from '#shared/db/connection/connect.ts'

/** Work of the stores for the product: counts are the same on every machine, unlike times. */
export interface WorkCounts {
  /** Commands of MongoDB that read or write documents. */
  readonly commands: number
  /** Of these, writes that waited for a majority. */
  readonly majorityWrites: number
  /** Times that MongoDB forced its journal to the disk; commands that end together share one. */
  readonly journalSyncs: number
  /** Writes that met another one on the same document and were repeated by the store. */
  readonly writeConflicts: number
  /** Scripts that Redis ran; all of BullMQ's work is scripts. */
  readonly queueScripts: number
}

/** Work from one moment on. */
export interface WorkSpan {
  /** Work since then per item, minus the idle work of the same time. */
  perItem(items: number): Promise<WorkCounts>
}

/** Counts the work of both stores. Concurrent commands of other clients are counted too. */
export interface WorkMeter {
  /** Counts the idle work (sweeps, heartbeats) over this many milliseconds, as the base of later spans. */
  countIdle(pause: (ms: number) => Promise<void>, ms: number): Promise<void>
  begin(): Promise<WorkSpan>
  close(): void
}

interface Reading extends WorkCounts {
  /** Monotonic milliseconds. */
  readonly at: number
}

const NONE: WorkCounts = { commands: 0, majorityWrites: 0, journalSyncs: 0, writeConflicts: 0, queueScripts: 0 }
const COMMANDS = [
  'find',
  'aggregate',
  'count',
  'distinct',
  'getMore',
  'insert',
  'update',
  'delete',
  'findAndModify',
] as const

/** A meter for the stores of one benchmark; nothing is subtracted before `countIdle`. */
export function createWorkMeter(db: Database, redisUrl: string): WorkMeter {
  const redis = new Redis(redisUrl)
  const admin = db.connection.getClient().db('admin')
  let idlePerMs = NONE
  const read = async (): Promise<Reading> => {
    const [status, commandStats] = await Promise.all([admin.command({ serverStatus: 1 }), redis.info('commandstats')])
    return { at: performance.now(), ...mongoCounts(status), queueScripts: scriptsIn(commandStats) }
  }
  return {
    countIdle: async (pause, ms) => {
      const first = await read()
      await pause(ms)
      const last = await read()
      idlePerMs = eachOf(difference(first, last), last.at - first.at)
    },
    begin: async () => {
      const first = await read()
      return {
        perItem: async (items) => {
          const last = await read()
          return workPerItem(first, last, idlePerMs, items)
        },
      }
    },
    close: () => redis.disconnect(),
  }
}

/** The work between two readings, minus the idle work of that time, per item. */
export function workPerItem(first: Reading, last: Reading, idlePerMs: WorkCounts, items: number): WorkCounts {
  const idle = eachOf(idlePerMs, 1 / (last.at - first.at))
  return eachOf(difference(idle, difference(first, last)), items)
}

/** `12.6 commands, 6.9 majority writes, 5.8 journal syncs, 10.4 queue scripts`. */
export function workText({ commands, majorityWrites, journalSyncs, queueScripts }: WorkCounts): string {
  const [all, majority, syncs, scripts] = [commands, majorityWrites, journalSyncs, queueScripts].map((n) =>
    n.toFixed(1),
  )
  return `${all} commands, ${majority} majority writes, ${syncs} journal syncs, ${scripts} queue scripts`
}

function mongoCounts(status: Readonly<Record<string, unknown>>): Omit<WorkCounts, 'queueScripts'> {
  return {
    commands: COMMANDS.reduce((sum, name) => sum + numberAt(status, 'metrics', 'commands', name, 'total'), 0),
    // Writes with a concern of more than one node; `majority` always counts (serverStatus, metrics.getLastError).
    majorityWrites: numberAt(status, 'metrics', 'getLastError', 'wtime', 'num'),
    journalSyncs: numberAt(status, 'wiredTiger', 'log', 'log sync operations'),
    writeConflicts: numberAt(status, 'metrics', 'operation', 'writeConflicts'),
  }
}

/** Calls of EVALSHA and EVAL in Redis's INFO. */
export function scriptsIn(commandStats: string): number {
  const calls = [...commandStats.matchAll(/^cmdstat_(?:eval|evalsha):calls=(\d+)/gm)]
  return calls.reduce((sum, [, count]) => sum + Number(count), 0)
}

function numberAt(from: unknown, ...path: readonly string[]): number {
  const found = path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), from)
  const number = Number(found)
  if (Number.isNaN(number)) throw new Error(`serverStatus has no ${path.join('.')}`)
  return number
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function difference(first: WorkCounts, last: WorkCounts): WorkCounts {
  return {
    commands: last.commands - first.commands,
    majorityWrites: last.majorityWrites - first.majorityWrites,
    journalSyncs: last.journalSyncs - first.journalSyncs,
    writeConflicts: last.writeConflicts - first.writeConflicts,
    queueScripts: last.queueScripts - first.queueScripts,
  }
}

function eachOf(counts: WorkCounts, parts: number): WorkCounts {
  return {
    commands: counts.commands / parts,
    majorityWrites: counts.majorityWrites / parts,
    journalSyncs: counts.journalSyncs / parts,
    writeConflicts: counts.writeConflicts / parts,
    queueScripts: counts.queueScripts / parts,
  }
}
