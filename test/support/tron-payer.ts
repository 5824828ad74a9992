import { createHash } from 'node:crypto'
import { Wallet } from 'ethers'
import { readTransaction } from '#dev/local-chain/tron-node/read-transaction.ts'
import { evmAddress } from '#shared/chains/families/evm/address.ts'
import { formatAccount } from '#shared/chains/families/tron/address.ts'
import { signedTransfer, type UnsignedTransfer } from '#shared/chains/families/tron/transfer-message.ts'

/** A payer with a key of TRON. */
export interface TronPayer {
  /** `T…`. */
  readonly account: string
  /** The same, 20 bytes as hex. */
  readonly matchKey: string
  /** Signs the bytes of a transaction as wallets do: r, s and v as 27 or 28, as hex. Throws where JSON, bytes and id differ. */
  sign(transaction: UnsignedTransfer): string
}

/** A payer with their own key. */
export function tronPayer(): TronPayer {
  const key = Wallet.createRandom().signingKey
  const { matchKey } = evmAddress(Buffer.from(key.compressedPublicKey.slice(2), 'hex'))
  return {
    account: formatAccount(matchKey),
    matchKey,
    sign(transaction) {
      const hash = createHash('sha256').update(Buffer.from(transaction.raw_data_hex, 'hex')).digest()
      const { r, s, v } = key.sign(hash)
      const signature = `${r.slice(2)}${s.slice(2)}${v.toString(16)}`
      verifyForms(transaction, hash.toString('hex'), signature)
      return signature
    },
  }
}

/** As wallets do before they show a transaction: what JSON says must be what the bytes say. */
function verifyForms(transaction: UnsignedTransfer, id: string, signature: string): void {
  const read = readTransaction(signedTransfer(transaction, Buffer.from(signature, 'hex')))
  const [contract] = transaction.raw_data.contract as readonly {
    readonly type: string
    readonly parameter: { readonly value: Readonly<Record<string, unknown>> }
  }[]
  const { owner_address, to_address, contract_address, amount, data } = contract?.parameter.value ?? {}
  const said =
    contract?.type === 'TransferContract'
      ? { kind: 'transfer', owner: owner_address, to: to_address, amount: String(amount) }
      : { kind: 'call', owner: owner_address, contract: contract_address, data }
  const same = JSON.stringify(said) === JSON.stringify(read?.body)
  if (!same || id !== transaction.txID || read?.raw.expiration !== transaction.raw_data.expiration)
    throw new Error('Invalid transaction provided')
}
