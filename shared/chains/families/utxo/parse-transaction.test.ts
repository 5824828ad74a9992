import { Transaction } from 'bitcoinjs-lib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashText } from './double-sha256.ts'
import { outpointText } from './outpoint.ts'
import { parseTransaction } from './parse-transaction.ts'

const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength })
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff })
const input = fc.record({
  hash: bytes(32, 32),
  index: uint32,
  sequence: uint32,
  script: bytes(0, 300),
  witness: fc.array(bytes(0, 300), { maxLength: 3 }),
})
const output = fc.record({ script: bytes(0, 300), value: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }) })
const transaction = fc
  .record({
    version: uint32,
    locktime: uint32,
    inputs: fc.array(input, { minLength: 1, maxLength: 5 }),
    outputs: fc.array(output, { minLength: 1, maxLength: 5 }),
  })
  .map(({ version, locktime, inputs, outputs }) => {
    const made = new Transaction()
    made.version = version
    made.locktime = locktime
    for (const { hash, index, sequence, script, witness } of inputs) {
      made.addInput(hash, index, sequence, script)
      made.setWitness(made.ins.length - 1, witness)
    }
    for (const { script, value } of outputs) made.addOutput(script, value)
    return made
  })

const hex = (data: Uint8Array) => Buffer.from(data).toString('hex')

describe('parseTransaction', () => {
  it('reads what bitcoinjs-lib writes, witnesses or not', () => {
    fc.assert(
      fc.property(transaction, (made) => {
        const parsed = parseTransaction(Buffer.from(made.toBuffer()))
        if (parsed === null) throw new Error('nothing parsed')
        expect(hashText(parsed.hash)).toBe(made.getId())
        expect(parsed.inputs.map(outpointText)).toEqual(
          made.ins.map(({ hash, index }) => `${hashText(Buffer.from(hash))}:${index}`),
        )
        expect(parsed.outputs).toEqual(
          made.outs.map(({ script, value }) => ({ amountBase: value, script: script.length > 42 ? '' : hex(script) })),
        )
      }),
    )
  })

  // Guarantee: half an answer never becomes a payment.
  it('refuses a transaction that is cut anywhere, and bytes behind it', () => {
    const unreliable = expect.objectContaining({ name: 'NodeUnreliable' })
    fc.assert(
      fc.property(transaction, fc.nat(), (made, at) => {
        const whole = Buffer.from(made.toBuffer())
        expect(() => parseTransaction(whole.subarray(0, at % whole.length))).toThrow(unreliable)
        expect(() => parseTransaction(Buffer.concat([whole, Buffer.of(0)]))).toThrow(unreliable)
      }),
    )
  })

  it('reads random bytes as nothing, or refuses them, without another failure', () => {
    fc.assert(
      fc.property(bytes(0, 200), (noise) => {
        try {
          parseTransaction(Buffer.from(noise))
        } catch (error) {
          expect(error).toMatchObject({ name: 'NodeUnreliable' })
        }
      }),
    )
  })

  it('announces more than there is only to be refused', () => {
    for (const count of ['fdffff', 'feffffffff', 'ffffffffffffffffff']) {
      expect(() => parseTransaction(Buffer.from(`01000000${count}`, 'hex'))).toThrow(/announced more/)
    }
  })

  it('takes a purely confidential transaction for one that pays nobody', () => {
    // As litecoind gives it with MWEB data, and without (`-rpcserialversion=1`).
    expect(parseTransaction(Buffer.from('0200000000080000018f3a77c1a2', 'hex'))).toBeNull()
    expect(parseTransaction(Buffer.from('02000000000000000000', 'hex'))).toBeNull()
  })

  it('passes over the confidential part of a transaction that also has ordinary outputs', () => {
    const made = new Transaction()
    made.version = 2
    made.addInput(Buffer.alloc(32, 7), 1, 0xffff_fffe)
    made.addOutput(Buffer.from(`5920${'ab'.repeat(32)}`, 'hex'), 5n)
    const plain = hex(made.toBuffer())
    const body = plain.slice(8, -8)
    const withPart = Buffer.from(`${plain.slice(0, 8)}0008${body}01c0ffee${plain.slice(-8)}`, 'hex')
    expect(hashText(parseTransaction(withPart)?.hash ?? Buffer.alloc(0))).toBe(made.getId())
  })
})
