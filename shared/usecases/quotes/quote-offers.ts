import { PaymeshError } from '#shared/contracts/errors.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { isHeld, type PaymentMethod, type PriorHold, type QuoteHold } from '#shared/domain/invoice/model.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressClaim } from '#shared/usecases/wallets/claims.ts'
import { standingOf } from '#shared/usecases/wallets/may-receive.ts'
import { type AddressSourceDeps, createAddressSource } from './address-source.ts'
import { type ClaimStock, createClaimStock } from './candidate-pool.ts'
import { type FreeAddress, type FreeAmount, type FreeClaimsDeps, freeAddresses, freeAmounts } from './free-claims.ts'

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
type Wanted = [material: OfferMaterial, info: AssetInfo, priceBase: bigint]

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
  } satisfies Record<OfferMaterial['kind'], (...wanted: Wanted) => Promise<QuoteOffer>>

  return {
    take: (material, info, priceBase, workspaceId) =>
      firstOurs(deps, { material, network: info.network, workspaceId }, () =>
        take[material.kind](material, info, priceBase),
      ),
    async reuse(material, info, priceBase, { workspaceId, held }) {
      if (material.kind === 'address') return null
      const own = held.filter((lock) => isHeld(lock) && lock.family === material.family && lock.hold?.kind !== 'amount')
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
      const lock = own.findLast(({ matchKey }) => usable.has(matchKey))
      if (lock === undefined) return null
      const { address, matchKey, claim, hold, priorHold = null } = lock
      if ((await standingOf(deps.wallets, material, { workspaceId, matchKey })) !== 'ours') return null
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
  let asked: { readonly at: number; readonly answer: Promise<boolean> } | null = null
  return async () => {
    if (asked === null || clock.now() - asked.at >= BEHIND_POLL_MS || clock.now() < asked.at) {
      const mine = { at: clock.now(), answer: marks.isStoreBehind() }
      asked = mine
      // Neither a failed read nor a store that is behind is kept: the next call reads again.
      const forget = () => {
        if (asked === mine) asked = null
      }
      mine.answer.then((isBehind) => isBehind && forget(), forget)
    }
    return await asked.answer
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
    const standing = await standingOf(deps.wallets, material, wanted)
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
