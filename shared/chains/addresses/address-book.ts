import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { type Network, payments } from 'bitcoinjs-lib'
import { HDNodeWallet } from 'ethers'
import type { ChainDefinition } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { evmAddress } from '#shared/chains/families/evm/address.ts'
import { seededAddress } from '#shared/chains/families/solana/address.ts'
import { tronAddress } from '#shared/chains/families/tron/address.ts'
import { outputScript } from '#shared/chains/families/utxo/output-script.ts'
import { createAddressPrinter } from '#shared/chains/families/utxo/script-address.ts'
import { verifyControl } from '#shared/chains/ownership/verify-control.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Family, Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { bareScriptType, type ScriptType } from '#shared/domain/script-type.ts'
import type { AccountKey, AddressBook, DerivedAddress, KeyRequest } from '#shared/ports/chain-catalog.ts'
import { accountKeys, accountPath } from './account-key.ts'
import { externalKeys, fingerprintOf } from './extended-key.ts'
import { parseKeyText } from './key-text.ts'
import { privateForm } from './private-form.ts'
import { parseReceivingAddress, type ReceivingAddress } from './receiving-address.ts'
import { refusal } from './refusal.ts'
import { SANDBOX_KEYS } from './sandbox-keys.ts'

type Derive = (mode: Mode, key: string, from: number, count: number) => readonly DerivedAddress[]

/** Address derivation of each family. */
const DERIVE: Readonly<Record<Family, Derive>> = {
  bitcoin: utxo('bitcoin'),
  litecoin: utxo('litecoin'),
  dogecoin: utxo('dogecoin'),
  evm: (_mode, key, from, count) =>
    externalKeys(key, { from, count, isCompressed: false }).map((k, i) => ({ index: from + i, ...evmAddress(k) })),
  tron: (_mode, key, from, count) =>
    externalKeys(key, { from, count, isCompressed: false }).map((k, i) => ({ index: from + i, ...tronAddress(k) })),
  solana: (_mode, key, from, count) =>
    Array.from({ length: count }, (_, i) => ({ index: from + i, ...seededAddress(key, from + i) })),
}

/** Address derivation from public keys for every family. Pure and stateless: about 0.3 ms per address. */
export function createAddressBook(): AddressBook {
  return {
    readings: accountKeys,
    normalise,
    accountPath,
    derive: (family, mode, xpub, from, count) => DERIVE[family](mode, xpub, from, count),
    verify: (family, mode, xpub) =>
      verifyDerivation((from, count) => DERIVE[family](mode, xpub, from, count), { family, mode, xpub }),
    parseAddresses: parseAddressList,
    verifyControl,
    sandboxKey: (family) => {
      const xpub = SANDBOX_KEYS[family]
      return { xpub, fingerprint: fingerprintOf(xpub), scriptType: bareScriptType(family) }
    },
  }
}

function normalise(family: Family, mode: Mode, value: string, request?: KeyRequest): AccountKey {
  const [only, ...others] = accountKeys(family, mode, value, request)
  if (only !== undefined && others.length === 0) return only
  const choices = [only, ...others].flatMap((key) => {
    const [first] = key === undefined ? [] : DERIVE[family](mode, key.xpub, 0, 1)
    return key === undefined || first === undefined ? [] : [`${key.scriptType} (first address ${first.address})`]
  })
  throw refusal(
    `This key does not state its address type. Enter the script type whose first address your wallet shows: ${choices.join(', ')}.`,
    'scriptType',
  )
}

function utxo(network: NetworkId): Derive {
  const chain: ChainDefinition = CHAINS[network]
  const { outputs } = chain
  if (outputs === undefined) throw new TypeError(`the definition of ${network} lacks its output rules`)
  const printers = {
    live: createAddressPrinter(chain, outputs, 'live'),
    test: createAddressPrinter(chain, outputs, 'test'),
  }
  return (mode, key, from, count) => {
    const { xpub, scriptType } = parseKeyText(chain.family, key)
    if (scriptType === null) throw new TypeError(`a key of ${network} needs a script type`)
    return externalKeys(xpub, { from, count, isCompressed: true }).map((publicKey, i) => {
      const matchKey = outputScript(publicKey, scriptType)
      return { index: from + i, address: printers[mode](matchKey), matchKey }
    })
  }
}

/** Addresses one list may hold. */
const LIST_MAX = 10_000
/** Problems reported at once; a file of the wrong kind has one in every line. */
const NAMED_MAX = 20

/** The distinct addresses of a list in their order, and how many entries repeated an earlier one. */
interface AddressList {
  readonly addresses: readonly ReceivingAddress[]
  readonly repeated: number
}

/**
 * Reads addresses separated by line ends, commas, semicolons or spaces, quoted or not; a first line of words (a CSV
 * heading) and lines that begin with # are skipped. Throws `VALIDATION_ERROR` with path `value` that names the
 * line and problem of each wrong entry, and repeats no entry: one may be a private key.
 */
export function parseAddressList(family: Family, value: string): AddressList {
  const privately = privateForm(value.trim())
  if (privately !== null) throw refusal(privately)
  const entries = value.split(/\r\n|\n|\r/).flatMap((line, index) => entriesOf(line, index + 1))
  if (entries.length === 0) throw refusal('The list contains no address.')
  if (entries.length > LIST_MAX)
    throw refusal(`The list contains more than ${LIST_MAX} addresses. Add them in several steps.`)
  const addresses = new Map<string, ReceivingAddress>()
  const problems: { path: string; message: string }[] = []
  for (const { line, text } of entries) {
    try {
      const parsed = parseReceivingAddress(family, text)
      addresses.set(parsed.matchKey, parsed)
    } catch (error) {
      if (!(error instanceof PaymeshError)) throw error
      for (const { message } of error.details ?? [])
        problems.push({ path: 'value', message: `Line ${line}: ${message}` })
    }
  }
  if (problems.length === 0) return { addresses: [...addresses.values()], repeated: entries.length - addresses.size }
  const rest = problems.length - NAMED_MAX
  throw new PaymeshError('VALIDATION_ERROR', {
    details: [
      ...problems.slice(0, NAMED_MAX),
      ...(rest > 0 ? [{ path: 'value', message: `${rest} more entries are invalid.` }] : []),
    ],
  })
}

function entriesOf(line: string, number: number): readonly { line: number; text: string }[] {
  if (line.trimStart().startsWith('#')) return []
  const phrase = privateForm(line.trim())
  // A phrase on one line must not be split into words whose problems would fill the response.
  const texts = phrase === null ? line.split(/[\s,;]+/) : [line.trim()]
  const cleaned = texts.map((text) => text.replace(/^"(.*)"$/, '$1')).filter((text) => text !== '')
  const heading = number === 1 && cleaned.length > 0 && cleaned.every((text) => /^[a-z_]{1,20}$/i.test(text))
  return heading && phrase === null ? [] : cleaned.map((text) => ({ line: number, text }))
}

const base58check = createBase58check(sha256)
/** Addresses compared for each key: a derivation error shows in the first ones. */
const COMPARED = 5

type Output = Pick<ReturnType<typeof payments.p2pkh>, 'address' | 'output'>

/** How bitcoinjs-lib builds the payment of each script type. */
const PAYMENTS: Readonly<Record<ScriptType, (pubkey: Buffer, network: Network) => Output>> = {
  p2pkh: (pubkey, network) => payments.p2pkh({ pubkey, network }),
  'p2sh-p2wpkh': (pubkey, network) => payments.p2sh({ redeem: payments.p2wpkh({ pubkey, network }), network }),
  p2wpkh: (pubkey, network) => payments.p2wpkh({ pubkey, network }),
}

/**
 * Compares the first five derived addresses of a key with those of other libraries (ethers for keys and EVM,
 * bitcoinjs-lib for output scripts). Throws an Error that names family and index when one differs: the process must then
 * not hand out addresses. Solana keys are not extended keys; there is nothing to compare.
 */
export function verifyDerivation(
  derive: (from: number, count: number) => readonly DerivedAddress[],
  key: { readonly family: Family; readonly mode: Mode; readonly xpub: string },
): void {
  const { family, mode } = key
  if (family === 'solana') return
  const { xpub, scriptType } = parseKeyText(family, key.xpub)
  const chain = HDNodeWallet.fromExtendedKey(xpub).deriveChild(0)
  for (const { index, address, matchKey } of derive(0, COMPARED)) {
    const expected = otherAddress({ family, mode, scriptType }, chain.deriveChild(index))
    if (address !== expected.address || matchKey !== expected.matchKey) {
      throw new Error(`derivation self-check failed: ${family} ${mode} address ${index} differs between two libraries`)
    }
  }
}

interface Scheme {
  readonly family: Exclude<Family, 'solana'>
  readonly mode: Mode
  readonly scriptType: ScriptType | null
}

function otherAddress(
  { family, mode, scriptType }: Scheme,
  child: { readonly address: string; readonly publicKey: string },
): Omit<DerivedAddress, 'index'> {
  if (family === 'evm') return { address: child.address, matchKey: child.address.slice(2).toLowerCase() }
  if (family === 'tron') {
    const account = child.address.slice(2).toLowerCase()
    return { address: base58check.encode(Buffer.from(`41${account}`, 'hex')), matchKey: account }
  }
  if (scriptType === null) throw new TypeError(`a key of ${family} needs a script type`)
  const pubkey = Buffer.from(child.publicKey.slice(2), 'hex')
  const payment = PAYMENTS[scriptType](pubkey, bitcoinNetwork(family, mode))
  return { address: payment.address ?? '', matchKey: Buffer.from(payment.output ?? []).toString('hex') }
}

function bitcoinNetwork(network: NetworkId, mode: Mode): Network {
  const { addressPrefix, outputs }: ChainDefinition = CHAINS[network]
  const prefix = addressPrefix?.[mode]
  return {
    messagePrefix: '',
    bech32: prefix?.kind === 'bech32' ? prefix.hrp : '',
    bip32: { public: 0, private: 0 },
    pubKeyHash: outputs?.pubKeyHashVersion[mode] ?? 0,
    scriptHash: outputs?.scriptHashVersion[mode] ?? 0,
    wif: 0,
  }
}
