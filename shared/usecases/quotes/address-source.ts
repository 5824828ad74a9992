import { PaymeshError } from '#shared/contracts/errors.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Indexes reserved at once; each process holds at most a few blocks of them. */
export const BLOCK_SIZE = 16
/** A refill starts in the background when fewer usable addresses than this are left. */
const LOW_WATER = 6
/** Above this many stocked addresses, none of which may be issued, the network counts as exhausted. */
const STOCK_CAP = 64
/** Stocked addresses are dropped well before their indexes are offered again after an hour. */
const STOCK_LIFE_MS = 50 * 60_000
/** How often the scanner's marks on addresses that could not be issued are read again. */
const REFRESH_MS = 500

/** Dependencies of issuing addresses. */
export type AddressSourceDeps = Runtime & Uses<'wallets' | 'catalog' | 'marks'>

/** Offers fresh receiving addresses. An offer is not a claim: the invoice write that carries the claim decides. */
export interface AddressSource {
  /**
   * The next address of a key material that may be issued on a network: one already watched there if the network
   * has a node, any derived one otherwise. Served from memory while stocked; refills in the background.
   * Never offers an address twice from the same process. Throws `NO_WALLET_FOR_ASSET` when nothing can be issued.
   */
  take(material: Material, network: NetworkId): Promise<WatchedAddress>
  /** Whether `take` would return an address now. Searches and refills like `take`, and leaves the address in stock. */
  canTake(material: Material, network: NetworkId): Promise<boolean>
}

type Material = Pick<KeyMaterial, 'id' | 'mode' | 'family'>

/** Picks a usable address from a stock; null when there is none. */
type Picker<T> = (stock: Stock, usable: (entry: Held) => boolean) => T | null

interface Held {
  readonly address: WatchedAddress
  readonly heldSince: Ms
}

interface Stock {
  held: Held[]
  refill: Promise<number> | null
  refresh: Promise<void> | null
  refreshedAt: Ms
}

/** Makes an address source with its own in-memory blocks; one per process is enough. */
export function createAddressSource(deps: AddressSourceDeps): AddressSource {
  const stocks = new Map<string, Stock>()

  const stockOf = (materialId: string): Stock => {
    const known = stocks.get(materialId)
    if (known !== undefined) return known
    const stock: Stock = { held: [], refill: null, refresh: null, refreshedAt: 0 }
    stocks.set(materialId, stock)
    return stock
  }

  /** Result of `pick` on a stock filled as far as possible; null when nothing can be issued. */
  const fromStock = async <T>(material: Material, network: NetworkId, pick: Picker<T>): Promise<T | null> => {
    const stock = stockOf(material.id)
    const now = deps.clock.now()
    stock.held = stock.held.filter((entry) => entry.heldSince > now - STOCK_LIFE_MS)
    const mustBeWatched = deps.catalog.hasNode(network, material.mode)
    const usable = (entry: Held) => !mustBeWatched || entry.address.watchedOn.includes(network)
    const pickUsable = () => pick(stock, usable)

    const stocked = pickUsable()
    if (stocked !== null) {
      if (stock.held.filter(usable).length < LOW_WATER && stock.held.length < STOCK_CAP)
        refillQuietly(deps, stock, material.id)
      return stocked
    }
    if (stock.held.length > 0) await refreshMarks(deps, stock, material.id)
    const refreshed = pickUsable()
    if (refreshed !== null) return refreshed
    if (stock.held.length < STOCK_CAP) await refill(deps, stock, material.id)
    // Concurrent callers of one refill may have emptied it; a second round serves the rest.
    return pickUsable() ?? (await refillAndPick(deps, stock, material.id, pickUsable))
  }

  return {
    async take(material, network) {
      const taken = await fromStock(material, network, takeFirst)
      if (taken !== null) return taken
      deps.metrics.count('address_source_exhausted_total', { family: material.family, mode: material.mode })
      throw new PaymeshError('NO_WALLET_FOR_ASSET', { internal: `addresses_exhausted ${material.id} on ${network}` })
    },
    canTake: async (material, network) =>
      (await fromStock(material, network, (stock, usable) => stock.held.find(usable) ?? null)) !== null,
  }
}

function takeFirst(stock: Stock, usable: (entry: Held) => boolean): WatchedAddress | null {
  const index = stock.held.findIndex(usable)
  if (index < 0) return null
  return stock.held.splice(index, 1)[0]?.address ?? null
}

async function refillAndPick<T>(
  deps: AddressSourceDeps,
  stock: Stock,
  materialId: string,
  pick: () => T | null,
): Promise<T | null> {
  for (let round = 0; round < 8 && stock.held.length < STOCK_CAP; round += 1) {
    if ((await refill(deps, stock, materialId)) === 0) return pick()
    const picked = pick()
    if (picked !== null) return picked
  }
  return null
}

/** Reserves one block; concurrent callers share it. Returns how many addresses it added. */
function refill(deps: AddressSourceDeps, stock: Stock, materialId: string): Promise<number> {
  stock.refill ??= (async () => {
    try {
      // Read before the store: a store that says less than the marks went back in time, and would issue the same addresses again.
      const lowest = await deps.marks.lowestNextIndex(materialId)
      const indexes = lowest === null ? [] : await deps.wallets.reserveIndexes(materialId, BLOCK_SIZE, lowest)
      if (indexes.length === 0) return 0
      const addresses = await deps.wallets.addressesAt(materialId, indexes)
      const heldSince = deps.clock.now()
      for (const address of addresses) stock.held.push({ address, heldSince })
      return addresses.length
    } finally {
      stock.refill = null
    }
  })()
  return stock.refill
}

function refillQuietly(deps: AddressSourceDeps, stock: Stock, materialId: string): void {
  refill(deps, stock, materialId).catch((cause: unknown) => {
    // No caller waits for this refill; the next take without stock repeats it and reports the failure.
    deps.logger.warn({ err: cause, materialId }, 'address refill failed')
  })
}

/**
 * Scanners mark addresses after they are read here, so the marks of stocked ones are read again, unless that was done just now.
 * Concurrent callers wait for one read: without its result they would say that there is no address.
 */
async function refreshMarks(deps: AddressSourceDeps, stock: Stock, materialId: string): Promise<void> {
  const startedAt = deps.clock.now()
  if (stock.refresh === null && startedAt - stock.refreshedAt < REFRESH_MS) return
  stock.refresh ??= readMarks(deps, stock, materialId)
    .then(() => {
      stock.refreshedAt = startedAt
    })
    .finally(() => {
      stock.refresh = null
    })
  await stock.refresh
}

/** Replaces the stocked addresses by what the store says of them now; those taken meanwhile stay away. */
async function readMarks(deps: AddressSourceDeps, stock: Stock, materialId: string): Promise<void> {
  const read = await deps.wallets.addressesAt(
    materialId,
    stock.held.map((entry) => entry.address.index),
  )
  const byIndex = new Map(read.map((address) => [address.index, address]))
  stock.held = stock.held.map((entry) => ({ ...entry, address: byIndex.get(entry.address.index) ?? entry.address }))
}
