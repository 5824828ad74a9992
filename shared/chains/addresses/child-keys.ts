import { createHmac } from 'node:crypto'
import { normalizeZ } from '@noble/curves/abstract/curve.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { HDKey } from '@scure/bip32'

const { Point } = secp256k1
const TWEAK_BYTES = 32
/** Indexes from here on need the private key (BIP 32). */
const HARDENED = 0x8000_0000
/** A key this deep has no children: depth is one byte (BIP 32). */
const DEPTH_MAX = 255

/**
 * Public keys of the children `from` … `from + count − 1` of a public key (BIP 32, CKDpub), compressed (33 bytes) or not (65 bytes). They
 * are those of `deriveChild` of the library, which decodes the parent and each child again, in about half of its computing or less:
 * the parent is decoded once, and the coordinates of all children are divided out together. Throws an Error for an index that is not a whole
 * number from 0 to 2³¹ − 1, and below a key of depth 255.
 */
export function childKeys(
  parent: HDKey,
  { from, count, isCompressed }: { readonly from: number; readonly count: number; readonly isCompressed: boolean },
): readonly Uint8Array[] {
  const { publicKey, chainCode, depth } = parent
  if (publicKey === null || chainCode === null) throw new TypeError('a key without its public part or chain code')
  const point = Point.fromBytes(publicKey)
  const children = Array.from({ length: count }, (_, offset) => {
    const tweak = depth < DEPTH_MAX ? tweakOf(publicKey, chainCode, from + offset) : null
    const child = tweak === null ? null : point.add(Point.BASE.multiplyUnsafe(tweak))
    // Refused, or one in 2¹²⁷: the library applies the rule for it.
    return child === null || child.is0() ? childOf(parent, from + offset) : child
  })
  return normalizeZ(Point, children).map((child) => child.toBytes(isCompressed))
}

/** The number by which a child differs from its parent; null when that is none of the curve, or the index is no child's. */
function tweakOf(publicKey: Uint8Array, chainCode: Uint8Array, index: number): bigint | null {
  if (!Number.isInteger(index) || index < 0 || index >= HARDENED) return null
  const at = Buffer.alloc(4)
  at.writeUInt32BE(index)
  const digest = createHmac('sha512', chainCode).update(publicKey).update(at).digest()
  const tweak = BigInt(`0x${digest.subarray(0, TWEAK_BYTES).toString('hex')}`)
  return tweak === 0n || !Point.Fn.isValid(tweak) ? null : tweak
}

function childOf(parent: HDKey, index: number): InstanceType<typeof Point> {
  const { publicKey } = parent.deriveChild(index)
  if (publicKey === null) throw new TypeError('a derived key has no public part')
  return Point.fromBytes(publicKey)
}
