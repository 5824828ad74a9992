import { Block, Transaction } from 'bitcoinjs-lib'
import { describe, expect, it } from 'vitest'
import { doubleSha256, hashText } from './double-sha256.ts'
import { parseBlock, parseHeader } from './parse-block.ts'

const BITCOIN = { auxPow: false, mweb: false }
const LITECOIN = { auxPow: false, mweb: true }
const DOGECOIN = { auxPow: true, mweb: false }
const SCRIPT = `76a914${'11'.repeat(20)}88ac`

/** The first block of Bitcoin. */
const GENESIS =
  '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000'

const unreliable = expect.objectContaining({ name: 'NodeUnreliable' })

function payment(salt: number, amountBase: bigint, witness = false): Transaction {
  const made = new Transaction()
  made.addInput(Buffer.alloc(32, salt), salt)
  if (witness) made.setWitness(0, [Buffer.alloc(71, salt)])
  made.addOutput(Buffer.from(SCRIPT, 'hex'), amountBase)
  return made
}

function coinbase(): Transaction {
  const made = new Transaction()
  made.addInput(Buffer.alloc(32), 0xffff_ffff, 0xffff_ffff, Buffer.from('510101', 'hex'))
  made.addOutput(Buffer.from(SCRIPT, 'hex'), 5_000_000_000n)
  return made
}

function header(transactions: readonly Transaction[], version = 0x2000_0000): Buffer {
  const block = new Block()
  block.version = version
  block.timestamp = 1_700_000_000
  block.bits = 0x207f_ffff
  block.nonce = 1
  block.prevHash = Buffer.alloc(32, 3)
  block.merkleRoot = Block.calculateMerkleRoot([...transactions], false)
  return Buffer.from(block.toBuffer(true))
}

const count = (value: number) => Buffer.of(value)
const whole = (head: Buffer, between: Buffer, transactions: readonly (Transaction | Buffer)[]) =>
  Buffer.concat([
    head,
    between,
    count(transactions.length),
    ...transactions.map((entry) => (Buffer.isBuffer(entry) ? entry : Buffer.from(entry.toBuffer()))),
  ])
const placeOf = (block: Buffer) => ({ height: 7, hash: hashText(doubleSha256(block.subarray(0, 80))) })
const NOTHING = Buffer.alloc(0)

describe('parseBlock', () => {
  it('reads the first block of Bitcoin', () => {
    const place = { height: 0, hash: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f' }
    const block = parseBlock(Buffer.from(GENESIS, 'hex'), place, BITCOIN)
    expect(block).toMatchObject({ ...place, parentHash: '0'.repeat(64), time: 1_231_006_505_000 })
    expect(block.transactions.map(({ hash }) => hashText(hash))).toEqual([
      '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
    ])
    expect(block.transactions[0]?.outputs[0]?.amountBase).toBe(5_000_000_000n)
  })

  it.each([1, 2, 3, 4, 5, 8, 13])('reads a block of %d transactions as bitcoinjs-lib does', (size) => {
    const transactions = [
      coinbase(),
      ...Array.from({ length: size - 1 }, (_, i) => payment(i + 1, BigInt(i), i % 2 === 0)),
    ]
    const raw = whole(header(transactions), NOTHING, transactions)
    const read = parseBlock(raw, placeOf(raw), BITCOIN)
    const truth = Block.fromBuffer(raw)
    expect(read.hash).toBe(truth.getId())
    expect(read.time).toBe(truth.timestamp * 1_000)
    expect(read.transactions.map(({ hash }) => hashText(hash))).toEqual(truth.transactions?.map((one) => one.getId()))
  })

  // Guarantee: what a node gives is credited only when the block's own hash vouches for it.
  it('refuses a block that differs from its hash in any byte', () => {
    const transactions = [coinbase(), payment(1, 5n, false), payment(2, 6n)]
    const raw = whole(header(transactions), NOTHING, transactions)
    const place = placeOf(raw)
    for (let at = 0; at < raw.length; at += 1) {
      const bent = Buffer.from(raw)
      bent.writeUInt8(bent.readUInt8(at) ^ 1, at)
      expect(() => parseBlock(bent, place, BITCOIN), `byte ${at}`).toThrow(unreliable)
    }
    expect(() => parseBlock(raw.subarray(0, -1), place, BITCOIN)).toThrow(unreliable)
    expect(() => parseBlock(Buffer.concat([raw, count(0)]), place, BITCOIN)).toThrow(unreliable)
    expect(() => parseBlock(NOTHING, place, BITCOIN)).toThrow(unreliable)
  })

  // Guarantee: a repeated transaction, which leaves the Merkle root as it was, is not read twice.
  it('refuses a block whose last transaction is given twice', () => {
    const transactions = [coinbase(), payment(1, 5n), payment(2, 6n)]
    const raw = whole(header(transactions), NOTHING, transactions)
    const doubled = whole(header(transactions), NOTHING, [...transactions, payment(2, 6n)])
    expect(() => parseBlock(doubled, placeOf(raw), BITCOIN)).toThrow(/repeats/)
  })

  it('refuses a header that is not the one asked for', () => {
    expect(() => parseHeader(header([coinbase()]), { height: 1, hash: '1'.repeat(64) })).toThrow(unreliable)
  })
})

describe('a block of Dogecoin', () => {
  const branch = (length: number, index: number) =>
    Buffer.concat([count(length), Buffer.alloc(32 * length, 9), Buffer.of(index, 0, 0, 0)])
  const proof = (parent: Transaction) =>
    Buffer.concat([
      Buffer.from(parent.toBuffer()),
      Buffer.alloc(32, 5),
      branch(6, 0),
      branch(3, 2),
      Buffer.alloc(80, 6),
    ])
  const transactions = [coinbase(), payment(1, 10_000_000_000_000_001n)]

  it('reads 100,000,000.00000001 DOGE exactly, which is more than a double holds', () => {
    const raw = whole(header(transactions, 0x0062_0004), NOTHING, transactions)
    expect(parseBlock(raw, placeOf(raw), DOGECOIN).transactions[1]?.outputs[0]?.amountBase).toBe(
      10_000_000_000_000_001n,
    )
  })

  it.each([
    ['without', false],
    ['with', true],
  ])("passes over another chain's proof of work whose coinbase is %s a witness", (_what, witness) => {
    const parent = coinbase()
    if (witness) parent.setWitness(0, [Buffer.alloc(32)])
    const raw = whole(header(transactions, 0x0062_0104), proof(parent), transactions)
    const read = parseBlock(raw, placeOf(raw), DOGECOIN)
    expect(read.transactions.map(({ hash }) => hashText(hash))).toEqual(transactions.map((one) => one.getId()))
  })

  it('does not look for one where the version bit means something else', () => {
    const raw = whole(header(transactions, 0x2000_0100), NOTHING, transactions)
    expect(parseBlock(raw, placeOf(raw), BITCOIN).transactions).toHaveLength(2)
  })
})

describe('a block of Litecoin', () => {
  const hogEx = payment(4, 9n)
  const plain = Buffer.from(hogEx.toBuffer())
  const part = Buffer.of(0)
  const flagged = Buffer.concat([
    plain.subarray(0, 4),
    Buffer.of(0, 8),
    plain.subarray(4, -4),
    part,
    plain.subarray(-4),
  ])
  const extension = Buffer.from('01c0ffee', 'hex')

  it.each([
    ['with the extension block', [flagged], extension],
    ['as an older serialisation has it', [plain], NOTHING],
  ])('is read %s', (_what, last, tail) => {
    const head = header([coinbase(), hogEx])
    const raw = Buffer.concat([whole(head, NOTHING, [coinbase(), ...last]), tail])
    const read = parseBlock(raw, placeOf(raw), LITECOIN)
    expect(read.transactions.map(({ hash }) => hashText(hash))).toEqual([coinbase().getId(), hogEx.getId()])
  })

  // Guarantee: bytes of the extension block, which anyone can choose, never become an output.
  it('is refused with anything confidential inside a transaction', () => {
    const bent = Buffer.concat([flagged.subarray(0, -5), Buffer.of(1), flagged.subarray(-4)])
    const raw = whole(header([coinbase(), hogEx]), NOTHING, [coinbase(), bent])
    expect(() => parseBlock(raw, placeOf(raw), LITECOIN)).toThrow(unreliable)
  })
})
