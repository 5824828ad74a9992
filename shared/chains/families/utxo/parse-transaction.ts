import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { type ByteReader, createByteReader } from './byte-reader.ts'
import { doubleSha256 } from './double-sha256.ts'
import { OUTPOINT_BYTES } from './outpoint.ts'

/** An output: amount in base units and script as lower-case hex. */
export interface ParsedOutput {
  readonly amountBase: bigint
  /** Empty when the script is longer than any that has an address. */
  readonly script: string
}

/** The parts of a transaction needed to follow money. */
export interface ParsedTransaction {
  /** The transaction id in the byte order of the wire. */
  readonly hash: Buffer
  /** Number of bytes that its id hashes: all but its witness. */
  readonly hashedBytes: number
  /** The outpoints it spends, 36 bytes each; the coinbase has one that names no transaction. */
  readonly inputs: readonly Buffer[]
  readonly outputs: readonly ParsedOutput[]
}

/** A witness program of 40 bytes is the longest script with an address (BIP 141). */
const SCRIPT_MAX = 42
/** Minimum bytes of an input (outpoint, script length, sequence) and of an output (amount, script length). */
const INPUT_MIN = 41
const OUTPUT_MIN = 9
/** Flags of the extended form: witnesses follow (BIP 144), a MimbleWimble part follows (Litecoin, LIP 3). */
const WITNESS = 1
const MWEB = 8

/**
 * Reads the next transaction of a block. Its MimbleWimble part, if any, is a single zero byte: blocks store
 * such parts elsewhere. Throws `NodeUnreliable` when the bytes are not a transaction.
 */
export function readTransaction(reader: ByteReader): ParsedTransaction {
  const parts = readParts(reader)
  if ((parts.flags & MWEB) !== 0 && reader.byte() !== 0) {
    throw new NodeUnreliable('the node gave a block with a MimbleWimble part inside a transaction')
  }
  return finish(parts, reader.take(4))
}

/**
 * Parses a standalone transaction. Null for one without inputs, which is Litecoin's fully confidential kind: it has no
 * visible outputs. A MimbleWimble part is skipped unread, so the caller must compare the hash.
 */
export function parseTransaction(bytes: Buffer): ParsedTransaction | null {
  const reader = createByteReader(bytes)
  const parts = readParts(reader)
  if (parts.inputs.length === 0) return null
  if ((parts.flags & MWEB) !== 0) reader.skip(Math.max(0, reader.remaining - 4))
  const lockTime = reader.take(4)
  if (reader.remaining > 0) throw new NodeUnreliable('the node gave bytes after a transaction')
  return finish(parts, lockTime)
}

interface Parts {
  readonly version: Buffer
  readonly flags: number
  readonly inputs: readonly Buffer[]
  readonly outputs: readonly ParsedOutput[]
  /** Inputs and outputs as they are hashed, counts included. */
  readonly body: Buffer
}

function readParts(reader: ByteReader): Parts {
  const version = reader.take(4)
  const plain = reader.mark()
  let inputs = readInputs(reader)
  let flags = 0
  let from = plain
  if (inputs.length === 0) {
    // Zero inputs mark the extended form; the flags list its additional parts.
    flags = reader.byte()
    if ((flags & ~(WITNESS | MWEB)) !== 0) throw new NodeUnreliable('the node gave a transaction of an unknown form')
    if (flags === 0) return { version, flags, inputs, outputs: [], body: reader.since(plain) }
    from = reader.mark()
    inputs = readInputs(reader)
  }
  const outputs = readOutputs(reader)
  const body = reader.since(from)
  if ((flags & WITNESS) !== 0) for (const _ of inputs) skipWitness(reader)
  return { version, flags, inputs, outputs, body }
}

function readInputs(reader: ByteReader): readonly Buffer[] {
  return Array.from({ length: reader.count(INPUT_MIN) }, () => {
    const outpoint = reader.take(OUTPOINT_BYTES)
    reader.skip(reader.count(1))
    reader.skip(4)
    return outpoint
  })
}

function readOutputs(reader: ByteReader): readonly ParsedOutput[] {
  return Array.from({ length: reader.count(OUTPUT_MIN) }, () => {
    const amountBase = reader.uint64()
    const script = reader.take(reader.count(1))
    return { amountBase, script: script.length > SCRIPT_MAX ? '' : script.toString('hex') }
  })
}

function skipWitness(reader: ByteReader): void {
  for (let items = reader.count(1); items > 0; items -= 1) reader.skip(reader.count(1))
}

function finish({ version, inputs, outputs, body }: Parts, lockTime: Buffer): ParsedTransaction {
  const hashed = Buffer.concat([version, body, lockTime])
  return { hash: doubleSha256(hashed), hashedBytes: hashed.length, inputs, outputs }
}
