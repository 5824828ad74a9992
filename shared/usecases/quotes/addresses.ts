import { PaymeshError } from '#shared/contracts/errors.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { isHeld, type Ms, type PaymentMethod, type PriorHold, type QuoteHold } from '#shared/domain/invoice/model.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressClaim, addressStanding } from '#shared/usecases/wallets/address-standing.ts'
import {
  type ClaimStock,
  createClaimStock,
  type FreeAddress,
  type FreeAmount,
  type FreeClaimsDeps,
  freeAddresses,
  freeAmounts,
} from './claim-stock.ts'

/** Bytes of a Solana Pay reference: the size of an account key. */
const REFERENCE_BYTES = 32
/** Candidates skipped because another workspace proved them; as many as a stock holds. */
const LOST_MAX = 64

/** How old the answer may be that the store did not go back in time: a database is away for longer before it comes back with other data. */
const BEHIND_POLL_MS = 1_000

/** Dependencies of offering addresses and amounts of every kind of wallet. */
export type QuoteOffersDeps = AddressSourceDeps & FreeClaimsDeps & Uses<'wallets' | 'marks'>

/** Address and amount, and the claim that reserves them once an invoice write carries it. */
export interface QuoteOffer {
  readonly address: string
  readonly matchKey: string
  readonly claim: string
  /** The price, or slightly more where amounts identify invoices. */
  readonly amountBase: bigint
  /** How the claim ends; null when it is permanent. */
  readonly hold: QuoteHold['kind'] | null
  /** The recent holder of the address; null when the quarantine is over. */
  readonly priorHold: PriorHold | null
  /** Reference in the payment link; null where there is none. */
  readonly reference: string | null
}

/** Offers addresses and amounts for quotes. An offer is not a claim: the invoice write decides, and a loser takes the next. */
export interface QuoteOffers {
  /**
   * The next candidate of a material for an asset at a price. Addresses are watched before they are offered wherever the
   * network has a node, and one that another workspace proved since it was looked up is skipped: no payer of `workspaceId`
   * is shown it. Throws `NO_WALLET_FOR_ASSET` when nothing is free.
   */
  take(material: OfferMaterial, info: AssetInfo, priceBase: bigint, workspaceId: string): Promise<QuoteOffer>
  /**
   * The address that an invoice already has, offered for another asset of the same material; null when none of its payment methods
   * has an address of that material watched on the asset's network. Null where amounts identify invoices, and
   * where another workspace proved the address.
   */
  reuse(
    material: OfferMaterial,
    info: AssetInfo,
    priceBase: bigint,
    own: { readonly workspaceId: string; readonly held: readonly PaymentMethod[] },
  ): Promise<QuoteOffer | null>
  /** Whether `take` would find a usable address now, whatever the price. */
  canTake(material: OfferMaterial, network: NetworkId): Promise<boolean>
}

type OfferMaterial = Pick<KeyMaterial, 'id' | 'mode' | 'family' | 'kind'>
type OfferKey = [material: OfferMaterial, info: AssetInfo, priceBase: bigint]

/** Makes the source of offers of a process. */
export function createQuoteOffers(deps: QuoteOffersDeps): QuoteOffers {
  const derived = createAddressSource(deps)
  const isStoreBehind = createBehindCheck(deps)
  const pooled = createClaimStock<FreeAddress>(deps.clock)
  const amounts = createClaimStock<FreeAmount>(deps.clock)
  const isWatched = (material: OfferMaterial, network: NetworkId, row: WatchedAddress) =>
    !deps.catalog.hasNode(network, material.mode) || row.watchedOn.includes(network)
  const isUsable = (material: OfferMaterial, network: NetworkId) => (row: WatchedAddress) =>
    (row.offeredFrom?.[material.id] ?? 0) <= deps.clock.now() && isWatched(material, network, row)
  const fromPool = (material: OfferMaterial, network: NetworkId): Parameters<ClaimStock<FreeAddress>['take']> => [
    `${material.id} ${network}`,
    freeAddresses(deps, material, isUsable(material, network)),
  ]

  const take = {
    xpub: async (material, info, priceBase) => {
      const { address, matchKey } = await derived.take(material, info.network)
      const claim = addressClaim(material.mode, material.family, matchKey)
      return { address, matchKey, claim, amountBase: priceBase, hold: null, priorHold: null, reference: null }
    },
    pool: async (material, info, priceBase) => {
      const free = (await isStoreBehind()) ? null : await pooled.take(...fromPool(material, info.network))
      if (free === null) throw exhausted(deps, material, info.network)
      const { address, matchKey } = free.row
      const { claim, priorHold } = free
      return { address, matchKey, claim, amountBase: priceBase, hold: 'address', priorHold, reference: null }
    },
    address: async (material, info, priceBase) => {
      const row = (await isStoreBehind()) ? null : await singleAddress(deps, material)
      if (row === null || !isUsable(material, info.network)(row)) throw exhausted(deps, material, info.network)
      const free = await amounts.take(`${material.id} ${info.id} ${priceBase}`, freeAmounts(deps, row, info, priceBase))
      if (free === null) throw exhausted(deps, material, info.network)
      const { address, matchKey } = row
      return { address, matchKey, ...free, hold: 'amount', priorHold: null, reference: referenceFor(deps, info) }
    },
  } satisfies Record<OfferMaterial['kind'], (...wanted: OfferKey) => Promise<QuoteOffer>>

  return {
    take: (material, info, priceBase, workspaceId) =>
      firstOurs(deps, { material, network: info.network, workspaceId }, () =>
        take[material.kind](material, info, priceBase),
      ),
    async reuse(material, info, priceBase, { workspaceId, held }) {
      if (material.kind === 'address') return null
      const own = held.filter((one) => isHeld(one) && one.family === material.family && one.hold?.kind !== 'amount')
      if (own.length === 0) return null
      const keys = own.map(({ matchKey }) => matchKey)
      const rows = await deps.wallets.findAddresses(material.mode, material.family, keys)
      const usable = new Set(
        rows
          .filter(
            (row) => (row.heldBy ?? [row.materialId]).includes(material.id) && isWatched(material, info.network, row),
          )
          .map(({ matchKey }) => matchKey),
      )
      const paymentMethod = own.findLast(({ matchKey }) => usable.has(matchKey))
      if (paymentMethod === undefined) return null
      const { address, matchKey, claim, hold, priorHold = null } = paymentMethod
      if ((await addressStanding(deps.wallets, material, { workspaceId, matchKey })) !== 'ours') return null
      return { address, matchKey, claim, amountBase: priceBase, hold: hold?.kind ?? null, priorHold, reference: null }
    },
    async canTake(material, network) {
      if (material.kind === 'xpub') return derived.canTake(material, network)
      if (await isStoreBehind()) return false
      if (material.kind === 'pool') return pooled.has(...fromPool(material, network))
      const row = await singleAddress(deps, material)
      return row !== null && isUsable(material, network)(row)
    },
  }
}

/**
 * Whether the store went back in time, read at most once a second: what holds a listed address or an amount is then missing, until each is
 * quarantined.
 */
function createBehindCheck({ marks, clock }: Pick<QuoteOffersDeps, 'marks' | 'clock'>): () => Promise<boolean> {
  let last: { readonly at: number; readonly answer: Promise<boolean> } | null = null
  return async () => {
    if (last === null || clock.now() - last.at >= BEHIND_POLL_MS || clock.now() < last.at) {
      const mine = { at: clock.now(), answer: marks.isStoreBehind() }
      last = mine
      // Neither a failed read nor a store that is behind is kept: the next call reads again.
      const forget = () => {
        if (last === mine) last = null
      }
      mine.answer.then((isBehind) => isBehind && forget(), forget)
    }
    return await last.answer
  }
}

/** The first candidate that the workspace still owns; a stock may be older than a proof. */
async function firstOurs(
  deps: QuoteOffersDeps,
  { material, network, workspaceId }: { material: OfferMaterial; network: NetworkId; workspaceId: string },
  next: () => Promise<QuoteOffer>,
): Promise<QuoteOffer> {
  for (let passed = 0; passed < LOST_MAX; passed += 1) {
    const offer = await next()
    const wanted = { workspaceId, matchKey: offer.matchKey, at: deps.clock.now() }
    const standing = await addressStanding(deps.wallets, material, wanted)
    if (standing === 'ours') return offer
    deps.metrics.count('offer_displaced_total', { family: material.family, kind: material.kind })
    if (standing === 'wallet_lost') break
  }
  throw exhausted(deps, material, network)
}

async function singleAddress(deps: QuoteOffersDeps, material: OfferMaterial): Promise<WatchedAddress | null> {
  return (await deps.wallets.heldPage(material.id, null, 1))[0] ?? null
}

function referenceFor(deps: QuoteOffersDeps, info: AssetInfo): string | null {
  return info.family === 'solana' ? Buffer.from(deps.random.bytes(REFERENCE_BYTES)).toString('hex') : null
}

function exhausted(deps: QuoteOffersDeps, material: OfferMaterial, network: NetworkId): PaymeshError {
  deps.metrics.count('address_source_exhausted_total', { family: material.family, mode: material.mode })
  return new PaymeshError('NO_WALLET_FOR_ASSET', { internal: `addresses_exhausted ${material.id} on ${network}` })
}

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
type AddressSourceDeps = Runtime & Uses<'wallets' | 'catalog' | 'marks'>

type Material = Pick<KeyMaterial, 'id' | 'mode' | 'family'>

/** Picks a usable address from a stock; null when there is none. */
type Picker<T> = (stock: Stock, usable: (entry: HeldAddress) => boolean) => T | null

interface HeldAddress {
  readonly address: WatchedAddress
  readonly heldSince: Ms
}

interface Stock {
  held: HeldAddress[]
  refill: Promise<number> | null
  refresh: Promise<void> | null
  refreshedAt: Ms
}

/** Makes an address source with its own in-memory blocks; one per process is enough. */
export function createAddressSource(deps: AddressSourceDeps) {
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
    const usable = (entry: HeldAddress) => !mustBeWatched || entry.address.watchedOn.includes(network)
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
    /**
     * The next address of a key material that may be issued on a network: one already watched there if the network
     * has a node, any derived one otherwise. Served from memory while stocked; refills in the background.
     * Never offers an address twice from the same process. Throws `NO_WALLET_FOR_ASSET` when nothing can be issued.
     */
    async take(material: Material, network: NetworkId) {
      const taken = await fromStock(material, network, takeFirst)
      if (taken !== null) return taken
      deps.metrics.count('address_source_exhausted_total', { family: material.family, mode: material.mode })
      throw new PaymeshError('NO_WALLET_FOR_ASSET', { internal: `addresses_exhausted ${material.id} on ${network}` })
    },
    /** Whether `take` would return an address now. Searches and refills like `take`, and leaves the address in stock. */
    canTake: async (material: Material, network: NetworkId) =>
      (await fromStock(material, network, (stock, usable) => stock.held.find(usable) ?? null)) !== null,
  }
}

function takeFirst(stock: Stock, usable: (entry: HeldAddress) => boolean): WatchedAddress | null {
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
