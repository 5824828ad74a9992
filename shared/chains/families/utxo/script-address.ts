import { sha256 } from '@noble/hashes/sha2.js'
import { bech32, bech32m, createBase58check } from '@scure/base'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { ChainDefinition, OutputChainRules } from '../../definitions/chain.ts'

const base58check = createBase58check(sha256)

/** Turns an output script (lower-case hex) into its address on the network, or into itself when it has none. */
export function createAddressPrinter(
  { addressPrefix }: Pick<ChainDefinition, 'addressPrefix'>,
  rules: OutputChainRules,
  mode: Mode,
): (script: string) => string {
  const prefix = addressPrefix?.[mode]
  const base58 = (version: number, hex: string) =>
    base58check.encode(Uint8Array.of(version, ...Buffer.from(hex, 'hex')))
  return (script) => {
    if (/^76a914[0-9a-f]{40}88ac$/.test(script)) return base58(rules.pubKeyHashVersion[mode], script.slice(6, 46))
    if (/^a914[0-9a-f]{40}87$/.test(script)) return base58(rules.scriptHashVersion[mode], script.slice(4, 44))
    const program = prefix?.kind === 'bech32' ? witnessProgram(script) : null
    if (program === null || prefix?.kind !== 'bech32') return script
    // Version 0 uses the older checksum (BIP 173), later versions another constant (BIP 350).
    const encoding = program.version === 0 ? bech32 : bech32m
    return encoding.encode(prefix.hrp, [program.version, ...encoding.toWords(program.bytes)])
  }
}

/** Version and program of a witness output (BIP 141); null for any other script. */
function witnessProgram(script: string): { readonly version: number; readonly bytes: Buffer } | null {
  const bytes = Buffer.from(script, 'hex')
  const [opcode, length] = bytes
  if (opcode === undefined || length === undefined) return null
  if (length < 2 || length > 40 || bytes.length !== length + 2) return null
  if (opcode === 0) return { version: 0, bytes: bytes.subarray(2) }
  return opcode >= 0x51 && opcode <= 0x60 ? { version: opcode - 0x50, bytes: bytes.subarray(2) } : null
}
