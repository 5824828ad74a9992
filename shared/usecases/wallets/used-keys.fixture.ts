import { randomBytes } from 'node:crypto'
import { HDNodeWallet } from 'ethers'

/** A new account key, at m/44'/60'/0'. */
export const freshKey = () => HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'")
/** The receiving address at an index of a key. */
export const addressOf = (key: HDNodeWallet, index: number) => key.deriveChild(0).deriveChild(index).address

/** A node on which these indexes of a key were used. */
export const nodeWith = (key: HDNodeWallet, ...indexes: readonly number[]) => ({
  used: async (rows: readonly { readonly matchKey: string; readonly address: string }[]) => {
    const used = new Set(indexes.map((index) => addressOf(key, index)))
    return new Set(rows.filter(({ address }) => used.has(address)).map(({ matchKey }) => matchKey))
  },
})
