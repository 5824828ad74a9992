import { FAMILIES, type Family, MODES, type Mode } from '#shared/domain/enumerations.ts'
import { HASH_BYTES, PACK_HASHES, SALT_BYTES } from '#shared/ports/watch-packs.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressClaim } from '#shared/usecases/wallets/address-standing.ts'
import { createWatchHasher } from './watch-hash.ts'

/** Addresses read, and marked, at once. */
const PAGE = 1_000
/** Addresses stored in a pack at once: the last pack is written again each time. */
const BATCH = 8_192

/** Dependencies of moving cold addresses into packs. */
export type PackWatchesDeps = Uses<'clock' | 'random' | 'wallets' | 'watchPacks' | 'invoices'>

/** Where the walk of a mode and family continues; absent: from the start. */
export type PackingPlaces = Map<string, string>

/**
 * Moves derived addresses whose late-watch time is over into packs: first the pack is durable, then the address is marked. A crash between the
 * two leaves it in both, and the next run stores its hash once more, which changes nothing. Any number of processes may run at once.
 * Ends early when `shouldStop` says so and continues from `places` the next time. Returns how many were moved.
 */
export async function packWatches(
  deps: PackWatchesDeps,
  places: PackingPlaces,
  shouldStop: () => boolean = () => false,
): Promise<number> {
  let moved = 0
  for (const mode of MODES)
    for (const family of FAMILIES) moved += await packFamily(deps, { mode, family }, places, shouldStop)
  return moved
}

interface Scope {
  readonly mode: Mode
  readonly family: Family
}

async function packFamily(
  deps: PackWatchesDeps,
  scope: Scope,
  places: PackingPlaces,
  shouldStop: () => boolean,
): Promise<number> {
  const { mode, family } = scope
  const name = `${mode}:${family}`
  let moved = 0
  let cold: string[] = []
  let after: string | null = places.get(name) ?? null
  const flush = async (): Promise<void> => {
    await moveOut(deps, scope, cold)
    moved += cold.length
    cold = []
  }
  while (!shouldStop()) {
    const page = await deps.wallets.hotWatchPage(mode, family, after, PAGE)
    cold.push(...(await coldAmong(deps, scope, page)))
    if (cold.length >= BATCH) await flush()
    after = page.length < PAGE ? null : (page.at(-1)?.matchKey ?? null)
    if (after === null) break
  }
  await flush()
  if (after === null) places.delete(name)
  else places.set(name, after)
  return moved
}

/** Derived addresses are given to one invoice each. Listed ones are few and are offered again, so they stay. */
async function coldAmong(
  { invoices, clock }: PackWatchesDeps,
  { mode, family }: Scope,
  page: readonly { readonly matchKey: string; readonly isListed: boolean }[],
): Promise<readonly string[]> {
  const derived = page.filter(({ isListed }) => !isListed).map(({ matchKey }) => matchKey)
  if (derived.length === 0) return []
  const cold = await invoices.claimsCold(
    derived.map((matchKey) => addressClaim(mode, family, matchKey)),
    clock.now(),
  )
  return derived.filter((matchKey) => cold.has(addressClaim(mode, family, matchKey)))
}

/** Stores the hashes, then marks the addresses. The order is what keeps every address findable. */
async function moveOut(deps: PackWatchesDeps, { mode, family }: Scope, matchKeys: readonly string[]): Promise<void> {
  if (matchKeys.length === 0) return
  await storeHashes(deps, { mode, family }, matchKeys)
  for (let from = 0; from < matchKeys.length; from += PAGE) {
    await deps.wallets.markPacked(mode, family, matchKeys.slice(from, from + PAGE), deps.clock.now())
  }
}

async function storeHashes(
  { watchPacks, random }: PackWatchesDeps,
  { mode, family }: Scope,
  matchKeys: readonly string[],
): Promise<void> {
  let stored = 0
  while (stored < matchKeys.length) {
    const last = await watchPacks.last(mode, family)
    const isDamaged = last !== null && last.hashes.length !== last.count * HASH_BYTES
    if (isDamaged || (last === null ? 0 : last.seq + 1) < (await watchPacks.expected(mode, family))) {
      throw new Error(`the watch packs of ${mode} ${family} are damaged: scanners hold every address in memory`)
    }
    const salt = last?.salt ?? random.bytes(SALT_BYTES)
    const isFull = last === null || last.count >= PACK_HASHES
    const before = isFull ? { seq: last === null ? 0 : last.seq + 1, count: 0, hashes: new Uint8Array(0) } : last
    const some = matchKeys.slice(stored, stored + PACK_HASHES - before.count)
    const hashes = appended(before.hashes, hashesOf(some, salt))
    const pack = { seq: before.seq, count: before.count + some.length, salt, hashes }
    // Another process that added to the pack first is asked again for what it stored.
    if (await watchPacks.put(mode, family, pack, before.count)) stored += some.length
  }
}

function hashesOf(matchKeys: readonly string[], salt: Uint8Array): Uint8Array {
  const hasher = createWatchHasher(salt)
  const bytes = new Uint8Array(matchKeys.length * HASH_BYTES)
  const view = new DataView(bytes.buffer)
  for (const [at, matchKey] of matchKeys.entries()) {
    hasher.hash(matchKey)
    view.setUint32(at * HASH_BYTES, hasher.low, true)
    view.setUint32(at * HASH_BYTES + 4, hasher.high, true)
  }
  return bytes
}

function appended(before: Uint8Array, after: Uint8Array): Uint8Array {
  const both = new Uint8Array(before.length + after.length)
  both.set(before)
  both.set(after, before.length)
  return both
}
