import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome } from './lossy-proxy.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): Json => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

// biome-ignore lint/suspicious/noExplicitAny: scenes and events are data of every form.
export type Json = any

/** A call of a scene: what the runner of a language is to do, and what must come of it. */
interface SceneCall extends Readonly<Record<string, Json>> {
  readonly call: string
  /** How often it is made, one after the other. */
  readonly times?: number
  /** Name under which later calls refer to its result. */
  readonly as?: string
  /** How many requests it makes. */
  readonly requests?: number
  /** How many different idempotency keys they have. */
  readonly keys?: number
  /** The form of its last key; `$at.minute` is the minute since 1970 in which it is made. */
  readonly last_key?: string
  /** Bounds of each wait before a retry, in seconds. */
  readonly waits?: readonly (readonly [number, number])[]
  readonly expect?: { readonly ok?: Json; readonly error?: Json; readonly distinct?: number }
}

/** A scene of `clients/conformance/scenes.json`, which says how it is written. */
export interface Scene {
  readonly name: string
  readonly network?: readonly Json[]
  readonly calls: readonly SceneCall[]
  /** All that it makes is made in the same millisecond. */
  readonly still?: boolean
}

const LIST = read('clients/conformance/scenes.json')
/** Every scene. */
export const SCENES: readonly Scene[] = LIST.scenes

/** Values for the names that begin with `$`; fields of results are reached with dots. */
export type Names = Readonly<Record<string, Json>>

/** The data with its names replaced. */
export function fill(value: Json, names: Names): Json {
  if (typeof value === 'string')
    return value.replace(/\$date\+(\d+)|\$(\w+)\.(\w+)|\$(order)/g, (_, seconds, name, field, order) => {
      if (seconds !== undefined) return new Date(Date.now() + Number(seconds) * 1_000).toUTCString()
      return String(order === undefined ? names[name]?.[field] : names['order'])
    })
  if (Array.isArray(value)) return value.map((each) => fill(each, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each, names)]))
}

/** What becomes of the requests of a scene. */
export function networkOf({ network = [] }: Scene, names: Names): readonly Outcome[] {
  return network.flatMap((step) =>
    Array.from({ length: step.times ?? 1 }, (_, index) =>
      (step.steps ?? [step]).map((one: Json) => outcomeOf(one, names, index)),
    ).flat(),
  )
}

function outcomeOf(step: Json, names: Names, index: number): Outcome {
  if (step === 'cut') return 'cut_while_working'
  if (typeof step === 'string') return step as Outcome
  if (step.outcome !== undefined) return step.outcome
  const { status, headers = {}, text, data = null, meta, error = null } = fill(step, names)
  const envelope = { data: resources(data), meta: freshCursor(meta, index), error, request_id: 'req_scene' }
  return { status, headers, text: text ?? JSON.stringify(envelope) }
}

const freshCursor = (meta: Json, index: number): Json =>
  meta?.next_cursor === '$fresh' ? { ...meta, next_cursor: `c${index}` } : meta

/** Recorded invoices in the places that are marked with `$invoice`, which gives the end of their id. */
function resources(data: Json): Json {
  if (Array.isArray(data)) return data.flatMap((each) => Array.from({ length: each.times ?? 1 }, () => resources(each)))
  if (data?.$invoice === undefined) return data
  const invoice = structuredClone(read('docs/events/invoice.paid.json').data.object)
  return change({ ...invoice, id: `01930000-0000-7000-8000-00000000000${data.$invoice}`, status: 'new' }, data.set)
}

/** Sets fields, reached with dots. */
function change(target: Json, fields: Readonly<Record<string, Json>> = {}): Json {
  for (const [path, value] of Object.entries(fields)) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    names.reduce((place, name) => place[name], target)[last] = value
  }
  return target
}

/** The command for a runner: a delivery is made and signed here. */
export function commandOf(call: SceneCall, names: Names): Json {
  const {
    times: _,
    as: __,
    requests: ___,
    keys: ____,
    waits: _____,
    expect: ______,
    last_key: _______,
    ...command
  } = fill(call, names)
  if (command.call !== 'verify' && command.call !== 'handle') return command
  const nowS = Math.floor(Date.now() / 1_000)
  const signed = signedBytes(command)
  const t = nowS - (command.age ?? 0)
  const secrets = command.secrets?.map((name: string) => LIST.secrets[name]) ?? null
  const by = LIST.secrets[command.signed_by ?? command.secrets[0]]
  const v1 = createHmac('sha256', by).update(`${t}.`).update(signed).digest('hex')
  const body = sentBytes(signed, command.sent).toString('base64')
  const { without, fails } = command
  const signature = command.signature ?? `t=${t},v1=${v1}`
  return { call: command.call, body, signature, secrets, now: nowS, without, fails }
}

function signedBytes({ event, about, set, text, base64 }: Json): Buffer {
  if (base64 !== undefined) return Buffer.from(base64, 'base64')
  if (text !== undefined) return Buffer.from(text)
  const recorded = read(`docs/events/${event}.json`)
  if (about !== undefined) recorded.data.object.id = about
  return Buffer.from(JSON.stringify(change(recorded, set)))
}

/** What a program between the sender and the receiver makes of a body. */
function sentBytes(signed: Buffer, sent: string | undefined): Buffer {
  if (sent === 'empty') return Buffer.alloc(0)
  if (sent === 'with_bom') return Buffer.concat([Buffer.from('\ufeff'), signed])
  return sent === 'reencoded' ? Buffer.from(JSON.stringify(JSON.parse(signed.toString()), null, 2)) : signed
}
