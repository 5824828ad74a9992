import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { parseAccount } from '#shared/chains/families/tron/address.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import type { SimBlock, SimTx } from '../world/chain.ts'
import { heldAt, type NodeView, placeOf, type WireForm } from './wire-node.ts'

const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const PAYER = 'd'.repeat(40)
const PATH = /^(wallet|walletsolidity)\/(\w+)$/

type Json = Readonly<Record<string, unknown>>

const word = (digits: string): string => digits.padStart(64, '0')
const contractHex = (asset: AssetId): string => parseAccount(ASSETS[asset].contract ?? '')

const headerOf = ({ hash, parentHash, height, time }: SimBlock): Json => ({
  blockID: hash,
  // Fields with the value 0 are left out (proto3).
  block_header: { raw_data: { ...(height > 0 && { number: height, timestamp: time }), parentHash } },
})

function transactionOf({ hash, raw, payouts }: SimTx): Json {
  const coin = payouts.map(({ matchKey, amountBase }) => ({
    type: 'TransferContract',
    parameter: {
      value: { owner_address: `41${PAYER}`, to_address: `41${matchKey}`, amount: Number(amountBase) },
    },
  }))
  const call = [{ type: 'TriggerSmartContract', parameter: { value: {} } }]
  return {
    txID: hash,
    raw_data_hex: raw,
    raw_data: { contract: isCoin(payouts) ? coin : call },
    ret: [{ contractRet: 'SUCCESS' }],
  }
}

const isCoin = (payouts: SimTx['payouts']): boolean => payouts.every(({ asset }) => asset === 'trx_tron')

function infoOf({ hash, payouts }: SimTx, block: SimBlock): Json {
  const log = isCoin(payouts)
    ? []
    : payouts.flatMap(({ asset, matchKey, amountBase }) =>
        asset === null
          ? []
          : {
              address: contractHex(asset),
              topics: [TRANSFER, word(PAYER), word(matchKey)],
              data: word(amountBase.toString(16)),
            },
      )
  return { id: hash, blockNumber: block.height, blockTimeStamp: block.time, receipt: { result: 'SUCCESS' }, log }
}

const blockOf = (block: SimBlock): Json => ({ ...headerOf(block), transactions: block.txs.map(transactionOf) })
/** A node answers `{}` about what it does not have, also where it dropped it. */
const shown = (view: NodeView, index: number): SimBlock | null => {
  const block = view.block(index)
  return block === 'gone' ? null : block
}

function range(view: NodeView, from: number, end: number): readonly SimBlock[] {
  return Array.from({ length: Math.max(0, end - from) }, (_, at) => shown(view, from + at)).flatMap((one) => one ?? [])
}

/** The HTTP API of java-tron, as far as a scanner uses it. */
export const tronWire: WireForm = (chain, view, { method, body }) => {
  const params = body as Json
  const [, tree, name] = PATH.exec(method) ?? []
  const index = Number(params['num'] ?? 0)
  const answer = (): unknown => {
    switch (name) {
      case 'getnowblock': {
        const block = shown(view, tree === 'walletsolidity' ? view.final : view.head)
        return block === null ? {} : blockOf(block)
      }
      case 'getblockbynum': {
        const block = shown(view, index)
        return block === null ? {} : blockOf(block)
      }
      case 'getblockbylimitnext':
        return { block: range(view, Number(params['startNum']), Number(params['endNum'])).map(blockOf) }
      case 'gettransactioninfobyblocknum': {
        const block = shown(view, index)
        return block === null ? [] : block.txs.map((tx) => infoOf(tx, block))
      }
      case 'gettransactioninfobyid': {
        const place = placeOf(view, String(params['value']))
        return place === null ? {} : infoOf(place.tx, place.block)
      }
      case 'gettransactionbyid': {
        const place = placeOf(view, String(params['value']))
        return place === null ? {} : transactionOf(place.tx)
      }
      case 'triggerconstantcontract':
        return constantCall(params, (key) => heldAt(chain, view.head, key, 'usdt_tron'))
      case 'getaccount': {
        const address = String(params['address'])
        const balance = heldAt(chain, view.head, address.slice(2), 'trx_tron')
        return balance === 0n ? {} : { address, balance: Number(balance) }
      }
      case 'getchainparameters':
        return { chainParameter: [{ key: 'getEnergyFee', value: 210 }] }
      default:
        throw new Error(`no simulated node of TRON answers ${method}`)
    }
  }
  return { status: 200, body: JSON.stringify(answer()) }
}

function constantCall(params: Json, balanceOf: (matchKey: string) => bigint): Json {
  const result = { result: { result: true } }
  if (params['function_selector'] === 'decimals()') return { ...result, constant_result: [word('6')] }
  const owner = String(params['parameter'] ?? '').slice(-40)
  return { ...result, energy_used: 1, constant_result: [word(balanceOf(owner).toString(16))] }
}
