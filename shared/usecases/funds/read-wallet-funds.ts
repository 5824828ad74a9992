import { invalidField, PaymeshError } from '#shared/contracts/errors.ts'
import type { InvoiceLookups } from '#shared/db/invoices/admin-invoice-lookups.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { WalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { ASSET_IDS, type AssetId, type Mode, type NetworkId, networkOf } from '#shared/domain/enumerations.ts'
import type { FundsLine } from '#shared/domain/funds/funds-line.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { type AssetFunds, type FeeFact, FUNDS_PAGE, type FundsReader, type FundsReading } from '#shared/ports/funds.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import { NodeMismatch, NodeUnreliable } from '#shared/ports/scanning.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { openKeyMaterial } from '#shared/usecases/wallets/key-material.ts'
import { type FiatDeps, type FiatOf, fiatOf, usualInvoice } from './fiat-of.ts'

/** A node this many blocks behind the scanner shows balances of the past. */
const BEHIND_MAX = 20

/** A connection to a network's nodes for one reading. */
export interface FundsClient {
  readonly funds?: FundsReader
  close(): Promise<void>
}

/** Dependencies of reading where a wallet's money lies. */
export type WalletFundsDeps = UsedAddressesDeps &
  Omit<FiatDeps, 'catalog'> &
  Uses<'wallets' | 'workspaces' | 'cursors' | 'addressBook' | 'secretBox' | 'catalog'> & {
    readonly lookups: Pick<InvoiceLookups, 'page'>
    /** Null when the network has no node in that mode; the caller closes it. */
    openClient(mode: Mode, network: NetworkId): FundsClient | null
  }

/** One page of one network. */
export interface WalletFundsInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly walletId: string
  readonly network: NetworkId
  /** `next` of an earlier page; null for the first. */
  readonly after: string | null
  /** How long a node may take, milliseconds. */
  readonly timeoutMs: number
}

/** Where money lies, as one node shows it. For people: nothing is credited by it. */
export interface WalletFundsPage {
  readonly lines: readonly FundsLine[]
  readonly addresses: number
  readonly next: string | null
  /** Block of the balances; null where a node states none. */
  readonly height: number | null
  readonly facts: readonly FeeFact[]
  /** Why everything on this page is unknown; null when a node responded. */
  readonly fault: 'no_node' | 'not_supported' | 'no_response' | 'behind' | null
}

/**
 * Reads the balances of at most 20 addresses of a wallet on one network, and what moving them costs now. No key is read but the
 * public one, for the path; nothing is signed or sent. Throws `NOT_FOUND` for a wallet of another workspace or mode, and
 * `VALIDATION_ERROR` for a network that is not the wallet's, and for a malformed `after`.
 */
export async function readWalletFunds(deps: WalletFundsDeps, input: WalletFundsInput): Promise<WalletFundsPage> {
  const { workspaceId, mode, network, timeoutMs } = input
  const { wallet, material } = await ownWallet(deps, input)
  const page = await usedAddresses(
    deps,
    { workspaceId, material },
    { after: checkedPlace(material, input.after), limit: FUNDS_PAGE },
  )
  const reading = await readNode(deps, wallet, { network, addresses: page.addresses, timeoutMs })
  const pathOf = createPaths(deps, material)
  const [workspace, { currency }] = await Promise.all([
    deps.workspaces.findById(workspaceId),
    usualInvoice(deps.lookups, { workspaceId, mode }),
  ])
  const fiat = fiatOf(deps, currency, workspace?.policy.arsSeries ?? 'official')
  const assets = ASSET_IDS.filter((id) => networkOf(id) === network && deps.catalog.accepts(id, mode))
  const lines: FundsLine[] = []
  for (const { address, matchKey, index } of page.addresses) {
    const known = 'fault' in reading ? [] : (reading.funds.get(matchKey) ?? [])
    for (const asset of assets) {
      const funds = known.find((one) => one.asset === asset) ?? {
        asset,
        balanceBase: null,
        feeBase: null,
        topUpBase: 0n,
      }
      lines.push(await lineOf(deps, { network, address, path: pathOf(index), funds, fiat }))
    }
  }
  const { next, addresses } = page
  const read = 'fault' in reading ? { height: null, facts: [], ...reading } : { ...reading, fault: null }
  return { lines, addresses: addresses.length, next, height: read.height, facts: read.facts, fault: read.fault }
}

async function ownWallet(
  { wallets }: WalletFundsDeps,
  input: WalletFundsInput,
): Promise<{ readonly wallet: Wallet; readonly material: KeyMaterial }> {
  const { walletId, network } = input
  const wallet = requireOwn(await wallets.findWallet(walletId), input)
  if (!wallet.networks.includes(network)) {
    const message = `the wallet does not receive on ${network}`
    throw invalidField('network', message)
  }
  const material = await wallets.findMaterial(wallet.materialId)
  if (material === null) throw new PaymeshError('NOT_FOUND')
  return { wallet, material }
}

function checkedPlace({ kind }: KeyMaterial, after: string | null): string | null {
  const form = kind === 'xpub' ? /^\d{1,10}$/ : /^[0-9a-f]{1,140}$/
  if (after === null || form.test(after)) return after
  throw invalidField('after', 'is not the end of a page')
}

type Fault = { readonly fault: NonNullable<WalletFundsPage['fault']> }

/** Every fault of a node leaves all balances unknown. */
async function readNode(
  deps: WalletFundsDeps,
  { mode }: Wallet,
  request: { readonly network: NetworkId; readonly addresses: readonly UsedAddress[]; readonly timeoutMs: number },
): Promise<FundsReading | Fault> {
  const { network, addresses, timeoutMs } = request
  if (addresses.length === 0) return { height: null, funds: new Map(), facts: [] }
  const client = deps.openClient(mode, network)
  if (client === null) return { fault: 'no_node' }
  try {
    if (client.funds === undefined) return { fault: 'not_supported' }
    const cursor = await deps.cursors.find(mode, network)
    const reading = await client.funds.read(addresses, { timeoutMs })
    const isBehind = reading.height !== null && cursor !== null && reading.height < cursor.height - BEHIND_MAX
    return isBehind ? { fault: 'behind' } : reading
  } catch (error) {
    if (error instanceof NodeUnreliable || error instanceof NodeMismatch) return { fault: 'no_response' }
    throw error
  } finally {
    await client.close().catch(() => undefined)
  }
}

/** The path of an index; null for listed addresses and where the key's position is not known. */
function createPaths(
  { addressBook, secretBox }: WalletFundsDeps,
  material: KeyMaterial,
): (index: number | null) => string | null {
  if (material.kind !== 'xpub') return () => null
  const account = addressBook.accountPath(material.family, material.mode, openKeyMaterial(secretBox, material))
  return (index) => (account === null || index === null ? null : `${account}/0/${index}`)
}

async function lineOf(
  { catalog }: Pick<WalletFundsDeps, 'catalog'>,
  {
    network,
    address,
    path,
    funds,
    fiat,
  }: {
    readonly network: NetworkId
    readonly address: string
    readonly path: string | null
    readonly funds: AssetFunds
    readonly fiat: FiatOf
  },
): Promise<FundsLine> {
  const { asset, balanceBase, feeBase, topUpBase } = funds
  const coin = coinOf(network)
  const units = (id: AssetId, base: bigint | null) =>
    base === null ? null : formatUnits(base, catalog.asset(id).decimals)
  return {
    ...{ network, address, path, asset },
    symbol: catalog.asset(asset).symbol,
    balance: units(asset, balanceBase),
    fee: units(coin, feeBase),
    feeSymbol: catalog.asset(coin).symbol,
    topUp: units(coin, topUpBase) ?? '0',
    currency: fiat.currency,
    balanceFiat: balanceBase === null ? null : await fiat.text(asset, balanceBase),
    feeFiat: feeBase === null ? null : await fiat.text(coin, feeBase),
  }
}

/** The asset of a network's own coin. */
export function coinOf(network: NetworkId): AssetId {
  const { nativeSymbol } = NETWORKS[network]
  const coin = ASSET_IDS.find((id) => id === `${nativeSymbol.toLowerCase()}_${network}`)
  if (coin === undefined) throw new TypeError(`no asset of the coin of ${network}`)
  return coin
}

/** Rows of the wallet that are read from the store in one step, and for one page at most. */
const STEP = 100
const ROWS_MAX = 2_000

/** Dependencies of finding used addresses. */
type UsedAddressesDeps = Uses<'wallets' | 'fundsReads'>

/** An address with its place in the wallet. */
interface UsedAddress {
  readonly address: string
  readonly matchKey: string
  /** Null for listed addresses. */
  readonly index: number | null
}

/**
 * The addresses of a wallet that received a payment for the workspace, or hold a claim of its invoices; the address of a
 * single-address wallet always. `after` is the `next` of an earlier page. A key that several workspaces use shows each of them only
 * its own. At most `limit` addresses, and where to continue; null at the end. A page may be short, even empty, before the end.
 */
async function usedAddresses(
  deps: UsedAddressesDeps,
  scope: { readonly workspaceId: string; readonly material: KeyMaterial },
  { after, limit }: { readonly after: string | null; readonly limit: number },
) {
  const { workspaceId, material } = scope
  const { mode, family } = material
  const found: UsedAddress[] = []
  let place = after
  for (let read = 0; read < ROWS_MAX; read += STEP) {
    const rows = await rowsAfter(deps, material, place)
    if (rows.length === 0) return { addresses: found, next: null }
    const matchKeys = rows.map(({ matchKey }) => matchKey)
    const isSingle = material.kind === 'address'
    const used = isSingle ? new Set(matchKeys) : await deps.fundsReads.usedBy({ workspaceId, mode, family, matchKeys })
    for (const row of rows) {
      place = placeOf(material, row)
      if (!used.has(row.matchKey)) continue
      const { address, matchKey, index } = row
      found.push({ address, matchKey, index: material.kind === 'xpub' ? index : null })
      if (found.length === limit) return { addresses: found, next: place }
    }
  }
  return { addresses: found, next: place }
}

type Row = Awaited<ReturnType<WalletRepository['heldPage']>>[number]

async function rowsAfter({ wallets }: UsedAddressesDeps, material: KeyMaterial, after: string | null) {
  if (material.kind !== 'xpub') return await wallets.heldPage(material.id, after, STEP)
  const from = after === null ? (material.history?.startIndex ?? 0) : Number(after) + 1
  const count = Math.max(0, Math.min(STEP, material.nextIndex - from))
  if (count === 0) return []
  const rows = await wallets.addressesAt(
    material.id,
    Array.from({ length: count }, (_, offset) => from + offset),
  )
  return rows.toSorted((left, right) => left.index - right.index)
}

function placeOf({ kind }: KeyMaterial, { index, matchKey }: Row): string {
  return kind === 'xpub' ? String(index) : matchKey
}
