import { sha256 } from '@noble/hashes/sha2.js'
import { base58, bech32, bech32m, createBase58check } from '@scure/base'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { invalidField, PaymeshError } from '#shared/contracts/errors.ts'
import { type Family, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import type { AddressReader } from '#shared/ports/refunds.ts'
import { privateForm } from './private-form.ts'
import { parseReceivingAddress, type ReceivingAddress, spendable } from './receiving-address.ts'

const base58check = createBase58check(sha256)
/** Bytes of a hash in a base58check address, and of its version before it. */
const HASH_BYTES = 20

/** Reads addresses entered by other people: of every family and every common kind of output script, in the form of their mode. */
export function createAddressReader(): AddressReader {
  return {
    read: (network, mode, text) => {
      const chain: ChainDefinition = CHAINS[network]
      try {
        if (chain.outputs === undefined) return parseReceivingAddress(chain.family, text)
        const privately = privateForm(text.trim())
        if (privately !== null) throw refusal(privately)
        return spendable(chain.family, parseOutputAddress(chain, mode, text.trim()))
      } catch (error) {
        throw error instanceof PaymeshError ? refusal(error.details?.[0]?.message ?? error.message) : error
      }
    },
  }
}

/**
 * Possible canonical forms of an address of any family, however it is spelled: for searching, never for sending. Empty for text that
 * is not an address.
 */
export function guessAddress(
  mode: Mode,
  text: string,
): readonly { readonly family: Family; readonly matchKey: string }[] {
  const given = text.trim()
  if (/^0x[0-9a-fA-F]{40}$/.test(given)) return [{ family: 'evm', matchKey: given.slice(2).toLowerCase() }]
  const found = new Map<Family, string>()
  for (const network of NETWORK_IDS) {
    const chain: ChainDefinition = CHAINS[network]
    if (chain.family === 'evm' || found.has(chain.family)) continue
    const matchKey = keyOf(network, mode, given)
    if (matchKey !== null) found.set(chain.family, matchKey)
  }
  return [...found].map(([family, matchKey]) => ({ family, matchKey }))
}

function keyOf(network: NetworkId, mode: Mode, text: string): string | null {
  const chain: ChainDefinition = CHAINS[network]
  try {
    // Addresses derived here are off the curve, so nobody holds their key, but searching for them is useful.
    if (chain.family === 'solana') return solanaKey(text)
    if (chain.outputs === undefined) return parseReceivingAddress(chain.family, text).matchKey
    return parseOutputAddress(chain, mode, text).matchKey
  } catch {
    return null
  }
}

function solanaKey(text: string): string | null {
  const bytes = base58.decode(text)
  return bytes.length === 32 ? Buffer.from(bytes).toString('hex') : null
}

function parseOutputAddress(chain: ChainDefinition, mode: Mode, text: string): ReceivingAddress {
  const prefix = chain.addressPrefix?.[mode]
  if (prefix?.kind === 'bech32' && text.toLowerCase().startsWith(`${prefix.hrp}1`)) {
    return parseWitness(chain, prefix.hrp, text)
  }
  return parseBase58(chain, mode, text)
}

/** BIP 173 for version 0, BIP 350 for the later ones. */
function parseWitness(chain: ChainDefinition, hrp: string, text: string): ReceivingAddress {
  for (const encoding of [bech32, bech32m]) {
    const decoded = encoding.decodeUnsafe(text, 90)
    const version = decoded?.words[0]
    if (decoded === undefined || decoded.prefix !== hrp || version === undefined) continue
    if ((version === 0) !== (encoding === bech32)) continue
    const program = encoding.fromWordsUnsafe(decoded.words.slice(1))
    if (!program || !isProgram(version, program.length)) continue
    const opcode = version === 0 ? 0 : 0x50 + version
    const script = Buffer.concat([Uint8Array.of(opcode, program.length), program]).toString('hex')
    return { address: encoding.encode(hrp, decoded.words), matchKey: script }
  }
  throw refusal(`This is not a ${chain.name} address, or one of its characters is wrong (checksum).`)
}

function isProgram(version: number, length: number): boolean {
  if (version === 0) return length === 20 || length === 32
  return version <= 16 && length >= 2 && length <= 40
}

function parseBase58(chain: ChainDefinition, mode: Mode, text: string): ReceivingAddress {
  const { outputs, name } = chain
  let payload: Uint8Array
  try {
    payload = base58check.decode(text)
  } catch {
    throw refusal(`This is not a ${name} address, or one of its characters is wrong (checksum).`)
  }
  const [version] = payload
  const hash = Buffer.from(payload.subarray(1)).toString('hex')
  if (payload.length === HASH_BYTES + 1 && version === outputs?.pubKeyHashVersion[mode])
    return { address: text, matchKey: `76a914${hash}88ac` }
  if (payload.length === HASH_BYTES + 1 && version === outputs?.scriptHashVersion[mode])
    return { address: text, matchKey: `a914${hash}87` }
  throw refusal(`This address is for another network or not for ${mode} mode. Enter a ${name} address.`)
}

const refusal = (message: string): PaymeshError => invalidField('address', message)
