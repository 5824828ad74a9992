import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type ArchiveSecret, openArchive, sealArchive } from './archive-cipher.ts'

const MIB = 1_048_576
const key: ArchiveSecret = { kind: 'key', key: randomBytes(32) }
const passphrase: ArchiveSecret = { kind: 'passphrase', passphrase: 'correct horse battery' }

async function* inParts(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function collect(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of source) parts.push(part)
  return Buffer.concat(parts)
}

const seal = (plain: Buffer, secret: ArchiveSecret = key) =>
  collect(sealArchive(inParts(plain, 70_000), secret, { paymesh: '1' }, new Date(0)))
const open = (sealed: Buffer, secret: ArchiveSecret = key) => collect(openArchive(inParts(sealed, 65_537), secret))

describe('an archive', () => {
  it.each([0, 1, MIB - 1, MIB, MIB + 1, 2 * MIB, 2 * MIB + 7])('gives back %i bytes as they were', async (length) => {
    const plain = randomBytes(length)
    const sealed = await seal(plain)
    expect((await open(sealed)).equals(plain)).toBe(true)
    expect(length < 64 || !sealed.includes(plain.subarray(0, 64))).toBe(true)
  })

  it('opens with its passphrase only, and says what it was made with', async () => {
    const sealed = await seal(Buffer.from('text'), passphrase)
    expect((await open(sealed, passphrase)).toString()).toBe('text')
    const other: ArchiveSecret = { kind: 'passphrase', passphrase: 'correct horse batterz' }
    await expect(open(sealed, other)).rejects.toMatchObject({ reason: 'wrong_secret' })
    await expect(open(sealed, key)).rejects.toThrow('created with a passphrase')
    await expect(open(await seal(Buffer.from('x')), { kind: 'key', key: randomBytes(32) })).rejects.toMatchObject({
      reason: 'wrong_secret',
    })
  })

  // Guards data: whoever can write to where archives are kept cannot change what a restore brings back.
  it('is refused when any byte was changed, wherever it was cut, and when something was added', async () => {
    const sealed = await seal(randomBytes(2 * MIB + 1_000))
    const places = [0, 20, 60, 250, 400, MIB, MIB + 500, 2 * MIB, sealed.length - 20, sealed.length - 1]
    for (const at of places) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      await expect(open(changed), `byte ${at}`).rejects.toMatchObject({ name: 'ArchiveRefused' })
    }
    const front = 19 + sealed.readUInt32BE(15)
    const chunk = 4 + MIB + 16
    for (const length of [
      0,
      10,
      18,
      front - 1,
      front,
      front + 2,
      front + chunk,
      front + 2 * chunk,
      sealed.length - 1,
    ]) {
      await expect(open(sealed.subarray(0, length)), `first ${length} bytes`).rejects.toMatchObject({
        name: 'ArchiveRefused',
      })
    }
    await expect(open(Buffer.concat([sealed, Buffer.from([0])]))).rejects.toMatchObject({ name: 'ArchiveRefused' })
    const swapped = Buffer.concat([
      sealed.subarray(0, front),
      sealed.subarray(front + chunk, front + 2 * chunk),
      sealed.subarray(front, front + chunk),
      sealed.subarray(front + 2 * chunk),
    ])
    await expect(open(swapped)).rejects.toMatchObject({ reason: 'damaged' })
    await expect(open(sealed.subarray(0, front + chunk))).rejects.toMatchObject({ reason: 'cut_off' })
  })

  it('does not work for hours because a head asks for it', async () => {
    const sealed = await seal(Buffer.from('x'), passphrase)
    const head = sealed.subarray(19, 19 + sealed.readUInt32BE(15)).toString()
    const greedy = Buffer.from(head.replace('131072', '2097152'))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(greedy.length)
    const forged = Buffer.concat([sealed.subarray(0, 15), length, greedy])
    await expect(open(forged, passphrase)).rejects.toMatchObject({ reason: 'unsupported' })
  })
})
