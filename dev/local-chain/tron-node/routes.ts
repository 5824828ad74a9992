import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { parseAccount } from '#shared/chains/families/tron/address.ts'
import { ASSET_IDS, networkOf } from '#shared/domain/enumerations.ts'
import { type ReceivedTransaction, readTransaction } from './read-transaction.ts'
import {
  infoJson,
  rawDataHex,
  type TransactionBody,
  type TransactionOutcome,
  type TronTransaction,
  transactionId,
  transactionJson,
} from './transaction.ts'
import { outcomeOf, SELECTORS, word } from './trc20.ts'
import { blockJson, type ChainBlock, infosJson, type TronChain } from './tron-chain.ts'

type Params = Readonly<Record<string, unknown>>

/** Dependencies of the routes on the node. */
export interface RouteContext {
  readonly chain: TronChain
  /** Creates a transaction without sending it. */
  prepare(body: TransactionBody): TronTransaction
  /** Accepts a prepared transaction; false when it was not prepared here. */
  broadcast(id: string): boolean
}

/** A refusal of the node: the response has status 200 and an `Error` field. */
export class Refusal extends Error {}

/** Handles a request such as `wallet/getnowblock`; undefined when there is no such path. */
export function answer(context: RouteContext, path: string, params: Params): unknown {
  if (params['visible'] === true || params['visible'] === 'true') throw new Refusal('only visible=false is spoken here')
  const [service, method = ''] = path.split('/')
  if (service === 'walletsolidity') return readRoute(context.chain, context.chain.solid(), method, params)
  if (service !== 'wallet') return undefined
  return readRoute(context.chain, context.chain.head(), method, params) ?? writeRoute(context, method, params)
}

/** Reads of blocks up to `top`: the head, or the solid block for `walletsolidity`. */
function readRoute(chain: TronChain, top: ChainBlock, method: string, params: Params): unknown {
  const at = (height: number) => (height <= top.number ? chain.at(height) : undefined)
  const block = (found: ChainBlock | undefined) =>
    found === undefined || found.number > top.number ? {} : blockJson(found)
  const range = (from: number, to: number) => ({
    block: Array.from({ length: Math.max(0, to - from) }, (_, i) => at(from + i)).flatMap((b) =>
      b ? [blockJson(b)] : [],
    ),
  })
  const mined = () => {
    const found = chain.find(String(params['value']))
    return found !== undefined && found.block.number <= top.number ? found : undefined
  }
  switch (method) {
    case 'getnowblock':
      return blockJson(top)
    case 'getblockbynum':
      return block(at(count(params, 'num')))
    case 'getblock': {
      const id = String(params['id_or_num'] ?? '')
      const found = /^\d{1,15}$/.test(id) ? at(Number(id)) : chain.byId(id)
      if (params['detail'] === true) return block(found)
      const { transactions: _left, ...header } = block(found) as Record<string, unknown>
      return header
    }
    case 'gettransactioncountbyblocknum':
      return { count: at(count(params, 'num'))?.transactions.length ?? -1 }
    case 'getblockbyid':
      return block(chain.byId(String(params['value'])))
    case 'getblockbylimitnext':
      return range(count(params, 'startNum'), count(params, 'endNum'))
    case 'getblockbylatestnum':
      return range(Math.max(0, top.number + 1 - count(params, 'num')), top.number + 1)
    case 'getaccount':
      return accountJson(chain, top, account(params, 'address'))
    case 'gettransactioninfobyblocknum':
      return infosJson(at(count(params, 'num')))
    case 'gettransactionbyid': {
      const found = mined()
      return found === undefined ? {} : transactionJson(found.transaction, true)
    }
    case 'gettransactioninfobyid': {
      const found = mined()
      return found === undefined ? {} : infoJson(found.transaction, found.block)
    }
    default:
      return undefined
  }
}

function writeRoute(context: RouteContext, method: string, params: Params): unknown {
  const { chain } = context
  switch (method) {
    case 'gettransactionlistfrompending':
      return { txId: chain.pending().map(transactionId) }
    case 'getpendingsize':
      return { pendingSize: chain.pending().length }
    case 'getchainparameters':
      return { chainParameter: Object.entries(PRICES).map(([key, value]) => ({ key, value })) }
    case 'triggerconstantcontract':
      return constantCall(chain, params)
    case 'getcontract': {
      const contract = account(params, 'value')
      return tokenAt(contract) === undefined ? {} : { contract_address: contract, bytecode: '60' }
    }
    case 'createtransaction': {
      const [owner, to] = [account(params, 'owner_address'), account(params, 'to_address')]
      return transactionJson(context.prepare({ kind: 'transfer', owner, to, amount: digits(params, 'amount') }), false)
    }
    case 'triggersmartcontract': {
      const [owner, contract] = [account(params, 'owner_address'), account(params, 'contract_address')]
      const data = `${selector(params)}${String(params['parameter'] ?? '')}`
      const transaction = transactionJson(context.prepare({ kind: 'call', owner, contract, data }), false)
      return { result: { result: true }, transaction }
    }
    case 'broadcasttransaction': {
      const id = String(params['txID'])
      return context.broadcast(id) ? { result: true, txid: id } : { code: 'SIGERROR', txid: id, message: '' }
    }
    case 'broadcasthex':
      return takeSigned(chain, String(params['transaction']))
    default:
      return undefined
  }
}

/** Prices of the main network, sun (proposal 104 lowered energy to 100 in August 2025). */
const PRICES = {
  getTransactionFee: 1_000,
  getEnergyFee: 100,
  getCreateAccountFee: 100_000,
  getCreateNewAccountFeeInSystemContract: 1_000_000,
}
/** Energy of a USDT transfer to an account that has some, and to one that has none. */
const TRANSFER_ENERGY = [64_285, 130_285] as const
const CONSTANT_CALLS = ['decimals()', 'balanceOf(address)', 'transfer(address,uint256)']

/** `decimals()`, `balanceOf()` and the cost of `transfer()` of the tokens in the registry; there are no other contracts here. */
/** The accepted token of a contract. */
const tokenAt = (contract: string) =>
  ASSET_IDS.find((asset) => {
    const address: string | null = ASSETS[asset].contract
    return networkOf(asset) === 'tron' && address !== null && `41${parseAccount(address)}` === contract
  })

function constantCall(chain: TronChain, params: Params): unknown {
  account(params, 'owner_address')
  const contract = account(params, 'contract_address')
  const id = tokenAt(contract)
  const selector = params['function_selector']
  if (id === undefined || !CONSTANT_CALLS.includes(String(selector))) {
    const message = Buffer.from('Smart contract is not exist.').toString('hex')
    return { result: { code: 'CONTRACT_VALIDATE_ERROR', message } }
  }
  if (selector === 'transfer(address,uint256)') {
    const to = String(params['parameter'] ?? '').slice(24, 64)
    const [held, fresh] = TRANSFER_ENERGY
    const energy = tokenBalance(chain, contract, to) > 0n ? held : fresh
    return { result: { result: true }, energy_used: energy, constant_result: [word(1n)], transaction: { ret: [{}] } }
  }
  const value =
    selector === 'decimals()'
      ? BigInt(ASSETS[id].decimals)
      : tokenBalance(chain, contract, String(params['parameter'] ?? '').slice(-40))
  return { result: { result: true }, energy_used: 392, constant_result: [word(value)], transaction: { ret: [{}] } }
}

function selector(params: Params): string {
  const signature = String(params['function_selector'])
  const known: Readonly<Record<string, string>> = SELECTORS
  const found = known[signature]
  if (found === undefined) throw new Refusal(`this node does not support ${signature}`)
  return found
}

function count(params: Params, name: string): number {
  const value = Number(params[name] ?? 0)
  if (!Number.isSafeInteger(value) || value < 0) throw new Refusal(`${name} is not a number`)
  return value
}

function account(params: Params, name: string): string {
  const value = String(params[name])
  if (!/^41[0-9a-f]{40}$/.test(value)) throw new Refusal(`Invalid ${name}`)
  return value
}

function digits(params: Params, name: string): string {
  const value = String(params[name])
  if (!/^[1-9][0-9]{0,18}$/.test(value)) throw new Refusal(`Invalid ${name}`)
  return value
}

/** Longest time until the end of a transaction, milliseconds (java-tron, Constant.MAXIMUM_TIME_UNTIL_EXPIRATION). */
const LIFE_MAX_MS = 86_400_000
/** Blocks that a transaction may refer to: two bytes of height tell them apart. */
const REFERENCES = 65_536

/**
 * Takes a signed transaction as java-tron's `broadcasthex` does: signature, reference, end, repetition and balance are checked, in the codes
 * of `Return.response_code` (api.proto). A token transfer of more than there is is taken and fails in its block.
 */
function takeSigned(chain: TronChain, hex: string): Readonly<Record<string, unknown>> {
  const received = readTransaction(hex)
  if (received === null) return refusal('OTHER_ERROR', '')
  const transaction = { body: received.body, outcome: outcomeFor(chain, received.body), ...received.raw }
  const txid = transactionId(transaction)
  // This node keeps what it understood: bytes that say more cannot be written again.
  if (rawDataHex(transaction) !== received.rawHex) return refusal('OTHER_ERROR', txid)
  const code = codeOf(chain, received, txid)
  if (code !== 'SUCCESS') return refusal(code, txid)
  chain.submit(transaction)
  return { result: true, code, message: '', transaction: '{}', txid }
}

const refusal = (code: string, txid: string) => ({ result: false, code, txid, message: code, transaction: '{}' })

function codeOf(chain: TronChain, { body, raw, signer }: ReceivedTransaction, txid: string): string {
  const head = chain.head()
  if (signer !== body.owner) return 'SIGERROR'
  if (chain.find(txid) !== undefined || chain.pending().some((one) => transactionId(one) === txid))
    return 'DUP_TRANSACTION_ERROR'
  if (!isReferenced(chain, raw)) return 'TAPOS_ERROR'
  const expiration = raw.expiration ?? 0
  if (expiration <= head.time || expiration > head.time + LIFE_MAX_MS) return 'TRANSACTION_EXPIRATION_ERROR'
  if (body.kind === 'transfer' && BigInt(body.amount) > coinBalance(chain, head, body.owner))
    return 'CONTRACT_VALIDATE_ERROR'
  return 'SUCCESS'
}

function isReferenced(chain: TronChain, { refBlockBytes, refBlockHash }: ReceivedTransaction['raw']): boolean {
  const head = chain.head().number
  const low = Number.parseInt(refBlockBytes, 16)
  const height = head - ((head - low + REFERENCES) % REFERENCES)
  return chain.at(height)?.id.slice(16, 32) === refBlockHash
}

function outcomeFor(chain: TronChain, body: TronTransaction['body']): TronTransaction['outcome'] {
  const outcome = outcomeOf(body)
  if (body.kind !== 'call' || !body.data.startsWith(SELECTORS['transfer(address,uint256)'])) return outcome
  const amount = BigInt(`0x${body.data.slice(72, 136) || '0'}`)
  if (amount <= tokenBalance(chain, body.contract, body.owner)) return outcome
  return { result: 'REVERT', logs: [], internals: [] }
}

/** An account as returned by `getaccount`: empty until it first received coins. Accounts are 21 bytes in hex. */
function accountJson(chain: TronChain, top: ChainBlock, address: string): Readonly<Record<string, unknown>> {
  const exists = minedUpTo(chain, top).some(({ body }) => body.kind === 'transfer' && body.to === address)
  if (!exists) return {}
  const balance = coinBalance(chain, top, address)
  // proto3 leaves out a zero.
  return balance === 0n ? { address } : { address, balance }
}

/** Coins of an account from the transfers to and from it; never negative, although this node checks no balance. */
function coinBalance(chain: TronChain, top: ChainBlock, address: string): bigint {
  let balance = 0n
  for (const { body, outcome } of minedUpTo(chain, top)) {
    if (outcome.result !== 'SUCCESS') continue
    if (body.kind === 'transfer' && body.to === address) balance += BigInt(body.amount)
    if (body.kind === 'transfer' && body.owner === address) balance -= BigInt(body.amount)
    for (const { to, amount, rejected, note, tokenId } of outcome.internals) {
      const isCoin = note === 'call' && rejected !== true && tokenId === undefined
      if (to === address && isCoin) balance += BigInt(amount)
    }
  }
  return balance < 0n ? 0n : balance
}

/** Token balance of an account from its transfer events; never negative, although this node checks no balance. */
function tokenBalance(chain: TronChain, contract: string, account: string): bigint {
  let balance = 0n
  for (const { outcome } of minedUpTo(chain, chain.head())) {
    for (const { topics, data } of tokenLogs(outcome, contract)) {
      if (topics[1]?.slice(-40) === account.slice(-40)) balance -= BigInt(`0x${data}`)
      if (topics[2]?.slice(-40) === account.slice(-40)) balance += BigInt(`0x${data}`)
    }
  }
  return balance < 0n ? 0n : balance
}

function tokenLogs({ result, logs }: TransactionOutcome, contract: string): TransactionOutcome['logs'] {
  return result === 'SUCCESS' ? logs.filter(({ address }) => address === contract.slice(-40)) : []
}

function minedUpTo(chain: TronChain, top: ChainBlock): readonly TronTransaction[] {
  return Array.from({ length: top.number + 1 }, (_, height) => chain.at(height)?.transactions ?? []).flat()
}
