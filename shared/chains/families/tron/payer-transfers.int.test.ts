import { describe, expect, it } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { WantedTransfer } from '#shared/ports/scanning.ts'
import { ADDRESS, OURS, useTronNodes, watches, when } from '#test/support/tron-nodes.ts'
import { type TronPayer, tronPayer } from '#test/support/tron-payer.ts'
import { formatAccount } from './address.ts'
import type { TronClient } from './client.ts'
import type { UnsignedTransfer } from './transfer-message.ts'

const { at, client, liar } = useTronNodes()
const USDT = ASSETS.usdt_tron.contract
const TRX = 1_000_000n

interface PreparedTransfer {
  readonly chainId: string
  readonly transaction: UnsignedTransfer
}

const wanted = (payer: TronPayer, change: Partial<WantedTransfer> = {}): WantedTransfer => ({
  ...{ from: payer.account, to: ADDRESS, contract: null, amountBase: 5n * TRX, reference: null },
  ...change,
})
/** A payer with coins and tokens on the local chain. */
async function richPayer(): Promise<TronPayer> {
  const payer = tronPayer()
  await at.node.pay({ asset: 'trx_tron', to: payer.account, amountBase: 1_000n * TRX })
  await at.node.pay({ asset: 'usdt_tron', to: payer.account, amountBase: 1_000n * TRX })
  at.node.mine()
  return payer
}
const prepare = async (reader: TronClient, transfer: WantedTransfer) => {
  const prepared = (await reader.prepareTransfer?.(transfer)) ?? ''
  return { prepared, ...(JSON.parse(prepared) as PreparedTransfer) }
}
const send = (reader: TronClient, transfer: WantedTransfer, prepared: string, signature: string) =>
  reader.sendTransfer?.(transfer, { prepared, signature })
/** Signs what was prepared and sends it. */
async function pay(reader: TronClient, payer: TronPayer, transfer: WantedTransfer, sender = reader) {
  const { prepared, transaction } = await prepare(reader, transfer)
  return { outcome: await send(sender, transfer, prepared, payer.sign(transaction)), txID: transaction.txID }
}

describe('a transfer that a payer’s wallet signed', () => {
  // Guards money: what the wallet signs moves exactly what is wanted on a chain that checks it, and the scanner finds it.
  it.each([
    ['TRX', null, 'trx_tron'],
    ['USDT', USDT, 'usdt_tron'],
  ])('reaches its block and the scanner: %s', async (_what, contract, asset) => {
    const reader = client([at.node.url])
    const payer = await richPayer()
    const transfer = wanted(payer, { contract })
    const { prepared, transaction, chainId } = await prepare(reader, transfer)
    expect(chainId).toBe(`0x${at.node.genesis.slice(-8)}`)
    const signature = payer.sign(transaction)
    expect(await send(reader, transfer, prepared, `0x${signature.toUpperCase()}`)).toBe('sent')
    // Repeated before and after its block, it counts once.
    expect(await send(reader, transfer, prepared, signature)).toBe('sent')
    at.node.mine()
    expect(await send(reader, transfer, prepared, signature)).toBe('sent')
    at.node.mine()
    const height = at.node.height()
    const found = (await reader.scan(height - 1, height, watches)).flatMap(({ transfers }) => transfers)
    expect(found).toMatchObject([{ asset, matchKey: OURS, amountBase: 5n * TRX, txHash: transaction.txID }])
  })

  // Guards money and the node: nothing but the wanted transfer, signed by its payer, is handed on.
  it('is handed on only when it is the wanted one, and signed by its payer', async () => {
    const requests: string[] = []
    const reader = client([await liar(({ path }) => void requests.push(path))])
    const [payer, other] = [await richPayer(), tronPayer()]
    const transfer = wanted(payer)
    const { prepared, transaction } = await prepare(reader, transfer)
    const signature = payer.sign(transaction)
    const elsewhere = formatAccount('e'.repeat(40))
    for (const change of [{ to: elsewhere }, { amountBase: 6n }, { contract: USDT }, { from: other.account }])
      expect(await send(reader, wanted(payer, change), prepared, signature)).toBe('different')
    const foreign = await prepare(reader, wanted(payer, { to: elsewhere }))
    expect(await send(reader, transfer, foreign.prepared, payer.sign(foreign.transaction))).toBe('different')
    expect(await send(reader, transfer, prepared, payer.sign(foreign.transaction))).toBe('different')
    expect(await send(reader, transfer, prepared, other.sign(transaction))).toBe('different')
    for (const wrong of ['', 'x'.repeat(130), '0'.repeat(130), 'f'.repeat(130), signature.slice(2)])
      expect(await send(reader, transfer, prepared, wrong), wrong).toBe('different')
    const later = { ...transaction, raw_data: { ...transaction.raw_data, expiration: 2 ** 52 } }
    for (const text of ['', '{', '{}', 'null', JSON.stringify({ transaction: later })])
      expect(await send(reader, transfer, text, signature), text).toBe('different')
    expect(requests.filter((path) => path.includes('broadcast'))).toEqual([])
  })

  it('that a node refuses was not sent', async () => {
    const reader = client([at.node.url])
    const poor = tronPayer()
    expect(await pay(reader, poor, wanted(poor))).toMatchObject({ outcome: 'refused' })
    // Made on a block that this chain does not have.
    const otherId = (id: unknown) => `${String(id).slice(0, 16)}${'9'.repeat(48)}`
    const forked = client([
      await liar(when('/getnowblock', (json) => ({ ...json, blockID: otherId(json['blockID']) }))),
    ])
    const payer = await richPayer()
    expect(await pay(forked, payer, wanted(payer), reader)).toMatchObject({ outcome: 'refused' })
  })

  // Guards money: "nothing was sent" is said only when no node can have it.
  it.each([
    ['is busy', { code: 'SERVER_BUSY' }],
    ['fails', { Error: 'class java.lang.Exception' }],
    ['says nothing that a program reads', 'gateway'],
  ])('may have been sent when a node %s, whatever the next one says', async (_what, said) => {
    const odd = await liar(when('/broadcasthex', () => said))
    const payer = tronPayer()
    expect(await pay(client([odd]), payer, wanted(payer))).toMatchObject({ outcome: 'unclear' })
    expect(await pay(client([odd, at.node.url]), payer, wanted(payer))).toMatchObject({ outcome: 'unclear' })
    const rich = await richPayer()
    expect(await pay(client([odd, at.node.url]), rich, wanted(rich))).toMatchObject({ outcome: 'sent' })
  })

  it('reaches no node of another chain', async () => {
    const payer = await richPayer()
    const foreign = client([at.node.url], { genesis: '0'.repeat(64) })
    expect(await pay(client([at.node.url]), payer, wanted(payer), foreign)).toMatchObject({ outcome: 'unsent' })
    await expect(foreign.prepareTransfer?.(wanted(payer))).rejects.toMatchObject({ name: 'NodeMismatch' })
  })

  // Guarantee: however many payers prepare, the node is asked once in a while.
  it('costs the node one reading for all who prepare at once', async () => {
    const requests: string[] = []
    const reader = client([await liar(({ path }) => void requests.push(path))])
    const payer = tronPayer()
    await Promise.all(Array.from({ length: 30 }, () => prepare(reader, wanted(payer))))
    expect(requests.filter((path) => path === '/walletsolidity/getnowblock')).toHaveLength(1)
  })
})
