import type { LinkFault } from './tcp-proxy.ts'

/** The links between programs that can fail. */
export const LINKS = ['api', 'redis', 'chain', 'receiver', 'mongo'] as const
export type LinkName = (typeof LINKS)[number]

/** One fault. */
export type Fault =
  | { readonly kind: 'kill'; readonly process: string }
  | { readonly kind: 'freeze'; readonly process: string; readonly ms: number }
  | { readonly kind: 'mongo_freeze' | 'redis_freeze'; readonly ms: number }
  /** All of them at once, and Redis with its data where `andRedis` is set. */
  | { readonly kind: 'kill_together'; readonly processes: readonly string[]; readonly andRedis: boolean }
  | {
      readonly kind:
        | 'redis_kill'
        | 'redis_wipe'
        | 'redis_replace'
        | 'mongo_step_down'
        | 'mongo_kill'
        | 'rolling_restart'
    }
  | { readonly kind: 'link'; readonly link: LinkName; readonly fault: LinkFault; readonly ms: number }

/** Sometimes longer than a lease (15 s) or a queue's lock (8 s): the process returns after it was given up. */
const FREEZE_MS = [2_000, 5_000, 12_000, 20_000] as const
const LINK_FAULTS: readonly LinkFault[] = [
  { kind: 'latency', ms: 300 },
  { kind: 'reset' },
  { kind: 'blackhole' },
  { kind: 'cut_request', afterBytes: 400 },
  { kind: 'cut_reply' },
  { kind: 'half_close' },
]
const LINK_MS = 4_000

/** How many processes of a type an installation in service has, where `OUTAGES` are tried. */
export const OUTAGES_SCALE = { api: 2, webhooks: 3, invoices: 2 } as const
/** An hour's faults of an installation in service, in their order: what `--list` injects instead of random ones. */
export const OUTAGES: readonly Fault[] = [
  { kind: 'kill', process: 'api' },
  { kind: 'kill', process: 'webhooks' },
  { kind: 'kill_together', processes: ['invoices', 'invoices-2'], andRedis: false },
  { kind: 'mongo_kill' },
  { kind: 'redis_kill' },
  { kind: 'mongo_freeze', ms: 30_000 },
  { kind: 'redis_freeze', ms: 15_000 },
  { kind: 'kill_together', processes: ['maintenance', 'scanner', 'rates'], andRedis: false },
  { kind: 'freeze', process: 'api-2', ms: 20_000 },
  { kind: 'freeze', process: 'webhooks-2', ms: 40_000 },
  { kind: 'kill_together', processes: ['webhooks', 'webhooks-2', 'webhooks-3'], andRedis: true },
]

/**
 * `count` faults in random order. Small decks contain every kind before any repeats; `random` returns numbers from 0 to
 * below 1, so that a seed reproduces the deck.
 */
export function dealFaults(count: number, processes: readonly string[], random: () => number): readonly Fault[] {
  const dealt: Fault[] = []
  while (dealt.length < count) dealt.push(...shuffled(oneRound(processes, random), random))
  return dealt.slice(0, count)
}

/** Every process dies once; stores, links and freezes are added. */
function oneRound(processes: readonly string[], random: () => number): readonly Fault[] {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const kills: readonly Fault[] = processes.map((process) => ({ kind: 'kill', process }))
  const freezes: readonly Fault[] = shuffled(processes, random)
    .slice(0, 4)
    .map((process) => ({ kind: 'freeze', process, ms: pick(FREEZE_MS) }))
  const links: readonly Fault[] = LINKS.flatMap((link) => [
    { kind: 'link', link, fault: pick(LINK_FAULTS), ms: LINK_MS } as const,
  ])
  const stores: readonly Fault[] = (
    ['redis_kill', 'redis_wipe', 'redis_replace', 'mongo_step_down', 'mongo_kill'] as const
  ).map((kind) => ({ kind }))
  const pauses: readonly Fault[] = (['mongo_freeze', 'redis_freeze'] as const).map((kind) => ({
    kind,
    ms: pick(FREEZE_MS),
  }))
  return [...kills, ...freezes, ...links, ...stores, ...pauses, { kind: 'rolling_restart' }]
}

function shuffled<T>(values: readonly T[], random: () => number): readonly T[] {
  const result = [...values]
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1))
    ;[result[index], result[other]] = [result[other] as T, result[index] as T]
  }
  return result
}

/** One line for people. */
export function describeFault(fault: Fault): string {
  if (fault.kind === 'kill') return `kill -9 ${fault.process}`
  if (fault.kind === 'freeze') return `stop ${fault.process} for ${fault.ms / 1_000} s`
  if (fault.kind === 'link') return `${fault.fault.kind} on the link to ${fault.link} for ${fault.ms / 1_000} s`
  if (fault.kind === 'kill_together')
    return `kill -9 ${fault.processes.join(', ')}${fault.andRedis ? ', Redis and its data' : ''}`
  const text = fault.kind.replaceAll('_', ' ')
  return 'ms' in fault ? `${text} for ${fault.ms / 1_000} s` : text
}
