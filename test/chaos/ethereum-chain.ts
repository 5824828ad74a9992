import { randomBytes } from 'node:crypto'
import { Interface, Wallet as Signer } from 'ethers'
import { startLocalChain } from '#dev/local-chain/start-local-chain.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { ChaosChain, Receiver } from './chaos-chain.ts'

const erc20 = new Interface([
  'function transfer(address,uint256)',
  'function mint(address,uint256)',
  'function balanceOf(address)',
])
const TOKENS = { usdt_ethereum: ASSETS.usdt_ethereum.contract, usdc_ethereum: ASSETS.usdc_ethereum.contract }
const [USDT, USDC] = [TOKENS.usdt_ethereum, TOKENS.usdc_ethereum]
const COIN = 10n ** 18n
/** Coins for each base unit of a token: less would be dust, which no reading looks for. */
const WEI = 10n ** 9n

/** anvil, where each of the payers of a sequence pays once, so that any of their transactions can be left out. */
export async function openEthereum(): Promise<ChaosChain> {
  const chain = await startLocalChain({ blockTimeMs: null })
  let payers: Signer[] = []
  let sent: { readonly raw: string; readonly hash: string }[] = []

  async function payOnce(to: Receiver, amountBase: bigint, asset: number): Promise<void> {
    const payer = payers.pop()
    if (payer === undefined) throw new Error('a sequence has more payments than payers')
    const token = erc20.encodeFunctionData('transfer', [to.address, amountBase])
    const call =
      asset === 2 ? { to: to.address, value: amountBase * WEI } : { to: asset === 0 ? USDT : USDC, data: token }
    const raw = await payer.signTransaction({
      ...call,
      chainId: 31_337,
      nonce: 0,
      gasLimit: 200_000,
      maxFeePerGas: 10_000_000_000n,
      maxPriorityFeePerGas: 1n,
      type: 2,
    })
    sent.push({ raw, hash: String(await chain.rpc('eth_sendRawTransaction', [raw])) })
  }

  return {
    url: chain.url,
    network: 'ethereum',
    family: 'evm',
    assets: ['usdt_ethereum', 'usdc_ethereum', 'eth_ethereum'],
    async prepare(payments) {
      sent = []
      payers = Array.from({ length: payments }, () => new Signer(`0x${randomBytes(32).toString('hex')}`))
      const [minter] = (await chain.rpc('eth_accounts')) as readonly string[]
      for (const { address } of payers) {
        await chain.fund(address, COIN)
        for (const to of [USDT, USDC]) {
          const data = erc20.encodeFunctionData('mint', [address, COIN])
          await chain.rpc('eth_sendTransaction', [{ from: minter, to, data, gas: '0x30d40' }])
        }
      }
      await chain.mine()
    },
    async pay(to, amountBase, asset) {
      for (const receiver of to) await payOnce(receiver, amountBase, asset)
    },
    mine: (blocks) => chain.mine(blocks),
    async reorg(depth, keep) {
      const head = Number(await chain.rpc('eth_blockNumber'))
      const again: [string, number][] = []
      for (const [index, { raw, hash }] of sent.entries()) {
        const receipt = (await chain.rpc('eth_getTransactionReceipt', [hash])) as { blockNumber: string } | null
        const isUndone = receipt !== null && Number(receipt.blockNumber) > head - depth
        if (isUndone && ((keep >> (index % 8)) & 1) === 1) again.push([raw, index % depth])
      }
      await chain.reorg(depth, again)
    },
    async replace() {},
    async holdings({ address }) {
      const data = erc20.encodeFunctionData('balanceOf', [address])
      return BigInt(String(await chain.rpc('eth_call', [{ to: USDT, data }, 'latest'])))
    },
    stop: () => chain.stop(),
  }
}
