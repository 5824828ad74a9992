import { type AssetId, type Mode, networkOf } from '#shared/domain/enumerations.ts'
import type { Prng } from '../kernel/prng.ts'
import { simMatchKey } from './address-book.ts'
import type { SimChain, SimTx } from './chain.ts'
import { callProcess, sendRequest } from './client.ts'
import { restartNodes } from './node-restart.ts'
import type { PublicInvoice } from './public-invoice.ts'
import type { Tenant } from './setup.ts'
import type { Sim } from './sim.ts'
import { assetsOf } from './sim-assets.ts'
import type { Payout } from './sim-transfer.ts'
import { straggle } from './straggler.ts'

type PricedInvoice = PublicInvoice & { readonly crypto: NonNullable<PublicInvoice['crypto']> }

const MANNERS = [
  'exact',
  'exact',
  'exact',
  'partial',
  'parts',
  'over',
  'late',
  'edge',
  'edge',
  'never',
  'under',
  'two outputs',
  'one more',
  'one less',
] as const

/** One payer in front of one invoice: picks an asset where none is given, then pays in one of many manners. */
export async function payInvoice(
  sim: Sim,
  tenant: Tenant,
  invoice: PublicInvoice,
  mode: Mode,
  random: Prng,
): Promise<void> {
  const priced =
    invoice.crypto === null ? await chooseAsset(sim, tenant, invoice, mode, random) : (invoice as PricedInvoice)
  if (priced === null) return
  const chain = sim.chains.get(`${mode}:${networkOf(priced.crypto.asset)}`)
  if (chain === undefined) return
  await payInManner(sim, chain, priced, random)
  const luck = random.fork('straggler')
  const again = () => {
    const { now } = sim.scheduler
    chain.sync(now)
    const tx = chain.pay(now, payouts(priced, [BigInt(priced.crypto.amount_base_units)]))
    note(sim, chain, priced, tx)
    return tx
  }
  await straggle(sim, chain, invoice, { random: luck, send: again })
}

async function payInManner(sim: Sim, chain: SimChain, priced: PricedInvoice, random: Prng): Promise<void> {
  const due = BigInt(priced.crypto.amount_base_units)
  const ends = Date.parse(priced.expires_at)
  const manner = random.pick(MANNERS)
  sim.trace.add(`  payer of ${priced.id}: ${manner}`)
  const luck = random.fork('raise')
  const mayRaise = chain.hasMempool && sim.mix.replaced > 0 && (manner === 'never' || manner === 'under')
  if (mayRaise && luck.chance(0.8)) return raise(sim, chain, priced, luck)
  if (manner === 'never') return
  await sim.sleep(random.between(1_000, 300_000), 'payer')
  const pay = (amounts: readonly bigint[], minedFrom?: number) => send(sim, chain, priced, amounts, random, minedFrom)
  if (random.chance(sim.trouble === 'bombs' ? 0.7 : sim.mix.hostileTransfer)) hostile(sim, chain, priced, random)
  switch (manner) {
    case 'exact':
      return pay([due])
    case 'under':
      return pay([(due * 9n) / 10n])
    case 'over':
      return pay([due + due / BigInt(random.between(2, 1_000))])
    case 'one more':
      return pay([due / 3n, due - due / 3n + 1n])
    case 'one less':
      // Less than a thousandth, and on account chains more than the chain's dust: only this transfer completes the invoice.
      await pay([due / 3n, due - due / 3n - due / 1_500n])
      await sim.sleep(120_000, 'a small rest')
      return pay([due / 1_500n])
    case 'two outputs':
      return pay([due / 3n, due - due / 3n])
    case 'partial':
      await pay([due / 2n])
      await sim.sleep(random.between(1_000, 900_000), 'second part')
      return pay([due - due / 2n])
    case 'parts': {
      const parts = BigInt(random.between(3, 6))
      for (let left = parts; left > 0n; left -= 1n) {
        await pay([left === 1n ? due - (due / parts) * (parts - 1n) : due / parts])
        await sim.sleep(random.between(1_000, 200_000), 'next part')
      }
      return
    }
    case 'late':
      await sim.sleep(ends - sim.scheduler.now + random.between(1_000, 5_400_000), 'late payer')
      return pay([due])
    case 'edge': {
      const at = ends + random.pick([-1_000, -1, 0, 1, 1_000])
      await sim.sleep(at - sim.scheduler.now - random.between(100, 8_000), 'payer at the edge')
      chain.sync(sim.scheduler.now)
      await pay([random.chance(0.3) ? due / 2n : due], at)
      chain.mineExactly(at)
    }
  }
}

/** A part with a fee that no block takes, and later, also after the deadline, the same coins with more of the price. */
async function raise(sim: Sim, chain: SimChain, priced: PricedInvoice, luck: Prng): Promise<void> {
  const due = BigInt(priced.crypto.amount_base_units)
  const ends = Date.parse(priced.expires_at)
  await sim.sleep(luck.between(1_000, 300_000), 'payer with a low fee')
  chain.sync(sim.scheduler.now)
  const small = payouts(priced, [due / BigInt(luck.between(2, 20))])
  const first = chain.pay(sim.scheduler.now, small, { minedFrom: Number.POSITIVE_INFINITY })
  note(sim, chain, priced, first)
  const pauseMs = luck.chance(0.5) ? ends - sim.scheduler.now + luck.between(-60_000, 600_000) : 0
  await sim.sleep(Math.max(luck.between(5_000, 400_000), pauseMs), 'raises')
  sim.fault('F8 raised')
  sim.touch()
  chain.sync(sim.scheduler.now)
  chain.drop(first.hash)
  const whole = luck.pick([[due], [due / 2n, due - due / 2n], [(due * 9n) / 10n]])
  note(sim, chain, priced, chain.pay(sim.scheduler.now, payouts(priced, whole), { spends: first.spends }))
}

async function chooseAsset(
  sim: Sim,
  tenant: Tenant,
  invoice: PublicInvoice,
  mode: Mode,
  random: Prng,
): Promise<PricedInvoice | null> {
  const chain = random.pick([...sim.chains.values()].filter((one) => one.mode === mode))
  const asset = random.pick(assetsOf(chain.network))
  await sim.sleep(random.between(1_000, 300_000), 'payer chooses')
  sim.touch()
  const opId = `payer ${invoice.id}`
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const done = await callProcess(
      sim,
      'operators',
      'paymentMethod',
      { invoiceId: invoice.id, asset, opId },
      random,
      `lock ${asset}`,
    )
    if (done !== 'lost') break
    await sim.sleep(random.between(500, 20_000), 'payer tries again')
  }
  const path = `/invoices/${invoice.id}`
  const shown = await sendRequest(sim, { method: 'GET', path, apiKey: tenant.keys[mode].apiKey }, random)
  if (shown === 'lost' || shown.status !== 200) return null
  const { data } = JSON.parse(shown.body) as { data: PublicInvoice }
  return data.crypto === null ? null : (data as PricedInvoice)
}

function payouts(
  { crypto }: PricedInvoice,
  amounts: readonly bigint[],
  asset: AssetId | null = crypto.asset,
): Payout[] {
  return amounts.map((amountBase) => ({
    address: crypto.address,
    matchKey: simMatchKey(crypto.address),
    asset,
    amountBase,
  }))
}

function note(sim: Sim, chain: SimChain, invoice: PricedInvoice, tx: SimTx): void {
  sim.touch()
  for (const { key, asset, amountBase } of tx.transfers) {
    const { id: invoiceId } = invoice
    sim.book.transfers.set(key, { txHash: tx.hash, key, invoiceId, network: chain.network, asset, amountBase })
  }
}

async function send(
  sim: Sim,
  chain: SimChain,
  invoice: PricedInvoice,
  amounts: readonly bigint[],
  random: Prng,
  minedFrom?: number,
): Promise<void> {
  const { now } = sim.scheduler
  chain.sync(now)
  const isEvm = chain.family === 'evm'
  const inside = isEvm && random.chance(sim.mix.callMoves)
  // Long after the deadline, only looks at balances find such money.
  const isInTime = minedFrom === undefined && Date.parse(invoice.expires_at) > now
  const hidden = isEvm && !inside && isInTime && random.chance(sim.mix.unreadable)
  const tx = chain.pay(now, payouts(invoice, amounts), {
    inside,
    hidden,
    ...(minedFrom !== undefined && { minedFrom }),
  })
  note(sim, chain, invoice, tx)
  const isOpen = Date.parse(invoice.expires_at) > now + FORWARDED_MS
  if (isEvm) moveOn(sim, chain, tx, { luck: random.fork(`outflow of ${tx.hash}`), isOpen })
  if (!chain.hasMempool || minedFrom !== undefined) return
  if (random.chance(sim.mix.nodeRestarts)) {
    await sim.sleep(random.between(500, 20_000), 'before nodes are restarted')
    restartNodes(sim, chain, random)
  }
  if (!random.chance(sim.mix.replaced)) return
  await sim.sleep(random.between(500, 400_000), 'second thoughts')
  if (!chain.mempool.has(tx.hash)) return
  const kind = random.pick(['bumped', 'elsewhere', 'forgotten', 'smaller'])
  sim.fault(`F8 ${kind}`)
  sim.touch()
  chain.drop(tx.hash)
  if (kind === 'forgotten') return
  const again = kind === 'smaller' ? amounts.map((amount) => (amount * 3n) / 4n) : amounts
  const to =
    kind === 'elsewhere'
      ? [{ address: '0xelse', matchKey: 'e'.repeat(40), asset: invoice.crypto.asset, amountBase: 1n }]
      : payouts(invoice, again)
  const other = chain.pay(sim.scheduler.now, to, { spends: tx.spends })
  if (kind !== 'elsewhere') note(sim, chain, invoice, other)
}

/** A wallet that forwards what it gets does so within this time. */
const FORWARDED_MS = 20_000

/**
 * Money that came leaves the account later: some of it, or while the invoice is open all that this transaction brought. Looks at ended invoices show
 * no coins that came and left between two of them.
 */
function moveOn(
  sim: Sim,
  chain: SimChain,
  { transfers }: SimTx,
  { luck, isOpen }: { readonly luck: Prng; readonly isOpen: boolean },
): void {
  if (!luck.chance(sim.mix.outflows)) return
  for (const { matchKey, asset, amountBase } of transfers) {
    if (asset === null) continue
    // Coins leave by the owner's key alone; tokens also by an allowance, whose sender is somebody else.
    const byOwner = asset === 'eth_ethereum' || luck.chance(0.5)
    const isAll = isOpen && luck.fork('all').chance(0.5)
    const outflow = { matchKey, asset, amountBase: isAll ? amountBase : amountBase / 3n + 1n, byOwner }
    sim.scheduler.at(luck.next() ** 2 * (isAll ? FORWARDED_MS : 3_600_000), 'world', null, 'outflow', () => {
      if (sim.healed) return
      sim.fault('F17 outflow')
      sim.touch()
      chain.sync(sim.scheduler.now)
      chain.takeOut(sim.scheduler.now, outflow)
    })
  }
}

/** Things that must never be taken for the payment, sent to the same address. */
function hostile(sim: Sim, chain: SimChain, invoice: PricedInvoice, random: Prng): void {
  const { crypto } = invoice
  const due = BigInt(crypto.amount_base_units)
  const kinds =
    chain.network === 'ethereum' ? ['fake token', 'other asset', 'dust', 'many dust'] : ['dust', 'many dust']
  if (sim.trouble === 'bombs') kinds.push('bomb', 'bomb', 'bomb')
  const kind = random.pick(kinds)
  sim.fault(`F10 ${kind}`)
  chain.sync(sim.scheduler.now)
  const dust = due / 5_000n + 1n
  const count = kind === 'bomb' ? random.between(40, 400) : kind === 'many dust' ? 12 : 1
  const each = kind === 'bomb' ? random.pick([dust, due / 50n, due / 7n]) : /dust/.test(kind) ? dust : due
  const amounts = Array.from({ length: count }, () => each)
  const other: AssetId = crypto.asset === 'usdt_ethereum' ? 'usdc_ethereum' : 'usdt_ethereum'
  const asset = kind === 'fake token' ? null : kind === 'other asset' ? other : crypto.asset
  note(sim, chain, invoice, chain.pay(sim.scheduler.now, payouts(invoice, amounts, asset)))
}
