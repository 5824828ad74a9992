import { Interface, Wallet as Signer } from 'ethers'
import type { LocalChain } from '#dev/local-chain/start-local-chain.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'

const erc20 = new Interface([
  'function transfer(address,uint256)',
  'function transferFrom(address,address,uint256)',
  'function approve(address,uint256)',
  'function mint(address,uint256)',
  'function balanceOf(address)',
])
const TOKENS = { usdt_ethereum: ASSETS.usdt_ethereum.contract, usdc_ethereum: ASSETS.usdc_ethereum.contract } as const
/** A token of these worlds. */
export type Token = keyof typeof TOKENS
/** Base units of one ether. */
const ETHER = 10n ** 18n

const word = (value: string | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0')
const hex = (value: bigint) => `0x${value.toString(16)}`

/** A contract that passes on what it gets to its first argument. */
const FORWARDER = { address: `0x${'a1'.repeat(20)}`, code: '0x6000600060006000346000355af100' }
/** A contract that pays two accounts: (first, amount, second, amount). */
const BATCH = {
  address: `0x${'b2'.repeat(20)}`,
  code: '0x60006000600060006020356000355af15060006000600060006060356040355af15000',
}
/** Takes coins, and pays (account, amount) when it is called with them: a wallet that is a contract. */
const SAFE = { address: `0x${'c3'.repeat(20)}`, code: '0x361560175760006000600060006020356000355af150005b00' }
/** Where forwarding wallets send everything. */
const OWNER = `0x${'d4'.repeat(20)}`
/** Passes everything on that it gets, in the same transaction: a deposit address of a custodian. */
const FORWARDING_CODE = `0x60006000600060003473${OWNER.slice(2)}5af15000`

/** A receiver's account on the chain. */
export interface Account {
  readonly address: string
  readonly matchKey: string
  readonly kind: 'key' | 'safe' | 'forwarding'
}

/** Everybody who moves money in a history. Transactions wait for the next block. */
export interface Payers {
  /** An account with coins for gas that allows the collector to take its tokens; mined before anybody waits for its money. */
  open(kind: Account['kind']): Promise<Account>
  /** A stranger pays directly. */
  pay(to: Account, asset: AssetId, amountBase: bigint): Promise<void>
  /** A contract pays coins inside of a call. */
  call(to: Account, amountBase: bigint): Promise<void>
  /** One contract call pays two accounts, or one of them twice. */
  batch(first: Account, second: Account, amountBase: bigint): Promise<void>
  /** A contract destroys itself in favour of the account. */
  destroy(to: Account, amountBase: bigint): Promise<void>
  /** The account's own key moves money on. */
  sweep(from: Account, asset: AssetId, amountBase: bigint): Promise<void>
  /** The account's own key sends all its coins away, to the last one; nothing where it cannot pay the gas. */
  drain(from: Account): Promise<void>
  /** A collector takes tokens by an allowance and pays the gas. */
  collect(from: Account, token: Token, amountBase: bigint): Promise<void>
  /** Somebody lets the code at the account, its own or delegated to it (EIP-7702), pay coins to a stranger. */
  execute(from: Account, amountBase: bigint): Promise<void>
  /** The key of the account delegates to a contract wallet; a sponsor pays. */
  delegate(account: Account): Promise<void>
  /** A log of a transfer of nothing, as address poisoning makes it. */
  poison(to: Account, token: Token): Promise<void>
  /** Coins straight to an account with code, with too little gas for it: the transaction is mined and moves nothing. */
  fail(to: Account, amountBase: bigint): Promise<void>
  /** What the account holds now. */
  holds(account: Account, asset: AssetId): Promise<bigint>
}

const LOTS = hex(10n ** 30n)
const GAS = '0x7a120'
/** A plain transfer, and a price above the base fee of a development chain. */
const DRAIN = { gas: 21_000n, gasPrice: 10n ** 10n }

/** Sets up the contracts, and a payer and a collector that anvil unlocks. */
export async function createPayers(chain: LocalChain): Promise<Payers> {
  const [payer, collector, sponsor] = (await chain.rpc('eth_accounts')) as readonly string[]
  const keys = new Map<string, InstanceType<typeof Signer>>()
  for (const { address, code } of [FORWARDER, BATCH, SAFE]) await chain.rpc('anvil_setCode', [address, code])
  const sponsorKey = new Signer('0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a')
  if (sponsor?.toLowerCase() !== sponsorKey.address.toLowerCase()) throw new Error('anvil has other accounts')

  const send = async (transaction: Readonly<Record<string, unknown>>): Promise<void> => {
    await chain.rpc('eth_sendTransaction', [{ gas: GAS, ...transaction }])
  }
  const callToken = (from: string | undefined, token: Token, method: string, args: readonly unknown[]) =>
    send({ from, to: TOKENS[token], data: erc20.encodeFunctionData(method, args) })

  const payers: Payers = {
    async open(kind) {
      const key = Signer.createRandom()
      const signer = new Signer(key.privateKey)
      const { address } = signer
      keys.set(address, signer)
      await chain.fund(address, ETHER)
      await chain.rpc('anvil_impersonateAccount', [address])
      if (kind !== 'key') await chain.rpc('anvil_setCode', [address, kind === 'safe' ? SAFE.code : FORWARDING_CODE])
      for (const token of Object.keys(TOKENS) as Token[]) {
        await callToken(address, token, 'approve', [collector, 10n ** 30n])
        await callToken(payer, token, 'mint', [payer, BigInt(LOTS)])
      }
      return { address, matchKey: address.slice(2).toLowerCase(), kind }
    },
    pay: (to, asset, amountBase) =>
      asset in TOKENS
        ? callToken(payer, asset as Token, 'transfer', [to.address, amountBase])
        : send({ from: payer, to: to.address, value: hex(amountBase) }),
    call: (to, amountBase) =>
      send({ from: payer, to: FORWARDER.address, value: hex(amountBase), data: `0x${word(to.address)}` }),
    batch: (first, second, amountBase) => {
      const more = amountBase / 2n + 1n
      const data = `0x${word(first.address)}${word(amountBase)}${word(second.address)}${word(more)}`
      return send({ from: payer, to: BATCH.address, value: hex(amountBase + more), data })
    },
    destroy: (to, amountBase) => send({ from: payer, value: hex(amountBase), data: `0x73${to.matchKey}ff` }),
    sweep: (from, asset, amountBase) =>
      asset in TOKENS
        ? callToken(from.address, asset as Token, 'transfer', [OWNER, amountBase])
        : send({ from: from.address, to: OWNER, value: hex(amountBase) }),
    async drain(from) {
      const held = await payers.holds(from, 'eth_ethereum')
      if (held <= DRAIN.gas * DRAIN.gasPrice) return
      const value = held - DRAIN.gas * DRAIN.gasPrice
      const fee = { gas: hex(DRAIN.gas), gasPrice: hex(DRAIN.gasPrice) }
      await send({ from: from.address, to: OWNER, value: hex(value), ...fee })
    },
    collect: (from, token, amountBase) =>
      callToken(collector, token, 'transferFrom', [from.address, OWNER, amountBase]),
    execute: (from, amountBase) =>
      send({ from: collector, to: from.address, data: `0x${word(OWNER)}${word(amountBase)}` }),
    async delegate(account) {
      const signer = keys.get(account.address)
      if (signer === undefined) throw new Error('the account is not of this history')
      const nonce = Number(await chain.rpc('eth_getTransactionCount', [account.address, 'pending']))
      const authorization = await signer.authorize({ address: SAFE.address, nonce, chainId: 31_337 })
      const raw = await sponsorKey.signTransaction({
        type: 4,
        chainId: 31_337,
        nonce: Number(await chain.rpc('eth_getTransactionCount', [sponsor, 'pending'])),
        to: OWNER,
        value: 0n,
        gasLimit: 200_000,
        maxFeePerGas: 10_000_000_000n,
        maxPriorityFeePerGas: 1n,
        authorizationList: [authorization],
      })
      await chain.rpc('eth_sendRawTransaction', [raw])
    },
    poison: (to, token) => callToken(payer, token, 'transfer', [to.address, 0n]),
    fail: (to, amountBase) => send({ from: payer, to: to.address, value: hex(amountBase), gas: '0x5210' }),
    async holds({ address }, asset) {
      if (!(asset in TOKENS)) return BigInt(String(await chain.rpc('eth_getBalance', [address, 'latest'])))
      const data = erc20.encodeFunctionData('balanceOf', [address])
      return BigInt(String(await chain.rpc('eth_call', [{ to: TOKENS[asset as Token], data }, 'latest'])))
    },
  }
  return payers
}
