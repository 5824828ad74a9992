import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { z } from 'zod'
import { parseJson } from '#shared/contracts/parse-json.ts'

const MAGIC = Buffer.from('PAYMESHBACKUP1\n', 'latin1')
const HEAD_MAX = 65_536
const CHUNK_BYTES = 1_048_576
const TAG_BYTES = 16
const KEY_BYTES = 32
const SALT_BYTES = 32
/** 128 MiB and about half a second: a stolen archive resists guessing (OWASP password storage: scrypt N = 2^17, r = 8, p = 1). */
const SCRYPT = { N: 131_072, r: 8, p: 1 } as const
const PASSPHRASE_SALT = randomBytes(SALT_BYTES).toString('base64')

/** The secret of an archive: a passphrase that a person remembers, or 32 random bytes. */
export type ArchiveSecret =
  | { readonly kind: 'passphrase'; readonly passphrase: string }
  | { readonly kind: 'key'; readonly key: Uint8Array }

/** Why an archive is refused. All data returned before is unmodified. */
export class ArchiveRefused extends Error {
  readonly reason: 'not_an_archive' | 'unsupported' | 'wrong_secret' | 'damaged' | 'cut_off'

  constructor(reason: ArchiveRefused['reason'], message: string) {
    super(message)
    this.name = 'ArchiveRefused'
    this.reason = reason
  }
}

const headSchema = z.object({
  // 1: one snapshot; 2: batches in passes. Both are sealed in the same way.
  format: z.union([z.literal(1), z.literal(2)]),
  createdAt: z.iso.datetime(),
  about: z.record(z.string(), z.union([z.string(), z.number()])),
  salt: z.base64(),
  // A forged header must not cause hours of work.
  kdf: z.union([
    z.object({ name: z.literal('none') }),
    z.object({
      name: z.literal('scrypt'),
      N: z.number().int().min(16_384).max(1_048_576),
      r: z.number().int().min(1).max(16),
      p: z.number().int().min(1).max(4),
      /** Of the passphrase alone, and the same in all archives of one process: a thousand archives cost one stretching. */
      salt: z.base64(),
    }),
  ]),
  check: z.string().max(64),
})

/** The readable header of an archive; it is authenticated with every chunk. */
export type ArchiveHead = z.output<typeof headSchema>

/**
 * Encrypts a stream: a readable header, then chunks of up to 1 MiB under AES-256-GCM. The nonce of a chunk is its number and whether it is the
 * last, and the header's hash is additional authenticated data of each: any change, move, omission or truncation is detected.
 * The key is derived for this archive alone from the secret and a random salt, so no nonce is ever used twice with it.
 */
export async function* sealArchive(
  source: AsyncIterable<Uint8Array>,
  secret: ArchiveSecret,
  about: ArchiveHead['about'],
  createdAt: Date,
): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  const kdf =
    secret.kind === 'key'
      ? ({ name: 'none' } as const)
      : ({ name: 'scrypt', ...SCRYPT, salt: PASSPHRASE_SALT } as const)
  const key = await archiveKey(secret, salt, kdf)
  const head: ArchiveHead = {
    format: 2,
    createdAt: createdAt.toISOString(),
    about,
    salt: salt.toString('base64'),
    kdf,
    check: checkOf(key),
  }
  const front = frontOf(Buffer.from(JSON.stringify(head), 'utf8'))
  yield front
  const aad = createHash('sha256').update(front).digest()
  let number = 0
  const seal = (plain: Buffer, isLast: boolean): Buffer => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number++, isLast))
    cipher.setAAD(aad)
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    return Buffer.concat([uint32(sealed.length), sealed])
  }
  let waiting: Buffer = Buffer.alloc(0)
  for await (const part of source) {
    waiting = Buffer.concat([waiting, part])
    while (waiting.length > CHUNK_BYTES) {
      yield seal(waiting.subarray(0, CHUNK_BYTES), false)
      waiting = waiting.subarray(CHUNK_BYTES)
    }
  }
  yield seal(waiting, true)
}

/**
 * Decrypts the output of `sealArchive`. Each piece returned is exactly the original at that place; throws `ArchiveRefused` as soon as
 * one is not, and at the end when the end is missing. `onHead` receives the header before the first piece.
 */
export async function* openArchive(
  source: AsyncIterable<Uint8Array>,
  secret: ArchiveSecret,
  onHead: (head: ArchiveHead) => void = () => undefined,
): AsyncGenerator<Buffer> {
  const input = byteReader(source)
  const { head, front } = await readFront(input)
  const key = await archiveKey(secret, Buffer.from(head.salt, 'base64'), head.kdf)
  if (checkOf(key) !== head.check) {
    throw new ArchiveRefused('wrong_secret', 'The passphrase or key does not match this archive.')
  }
  onHead(head)
  const aad = createHash('sha256').update(front).digest()
  for (let number = 0; ; number += 1) {
    const length = (await input.take(4))?.readUInt32BE(0)
    if (length === undefined) throw cutOff()
    if (length < TAG_BYTES || length > CHUNK_BYTES + TAG_BYTES) throw damaged(number)
    const sealed = await input.take(length)
    if (sealed === null) throw cutOff()
    const isLast = await input.isAtEnd()
    yield openChunk(key, aad, sealed, number, isLast)
    if (isLast) return
  }
}

function openChunk(key: Buffer, aad: Buffer, sealed: Buffer, number: number, isLast: boolean): Buffer {
  const open = (last: boolean): Buffer => {
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, last), { authTagLength: TAG_BYTES })
    decipher.setAAD(aad)
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
  }
  try {
    return open(isLast)
  } catch {
    throw isLast && isSound(() => open(false)) ? cutOff() : damaged(number)
  }
}

function isSound(attempt: () => unknown): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}

interface ByteReader {
  /** Exactly this many bytes; null when the source ends before. */
  take(count: number): Promise<Buffer | null>
  isAtEnd(): Promise<boolean>
}

function byteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const parts = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  const fill = async (count: number): Promise<boolean> => {
    const pieces = [held]
    let length = held.length
    while (length < count) {
      const next = await parts.next()
      if (next.done === true) break
      pieces.push(Buffer.from(next.value))
      length += next.value.length
    }
    if (pieces.length > 1) held = Buffer.concat(pieces)
    return held.length >= count
  }
  return {
    take: async (count) => {
      if (!(await fill(count))) return null
      const taken = held.subarray(0, count)
      held = held.subarray(count)
      return taken
    },
    isAtEnd: async () => !(await fill(1)),
  }
}

async function readFront(input: ByteReader): Promise<{ readonly head: ArchiveHead; readonly front: Buffer }> {
  const magic = await input.take(MAGIC.length)
  if (magic === null || !magic.equals(MAGIC)) {
    throw new ArchiveRefused('not_an_archive', 'This file is not a backup created by `paymesh backup`.')
  }
  const length = (await input.take(4))?.readUInt32BE(0) ?? 0
  const bytes = length > 0 && length <= HEAD_MAX ? await input.take(length) : null
  if (bytes === null) throw cutOff()
  const parsed = headSchema.safeParse(parseJson(bytes.toString('utf8')))
  if (!parsed.success) throw new ArchiveRefused('unsupported', 'This version cannot read the header of this archive.')
  return { head: parsed.data, front: frontOf(bytes) }
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const frontOf = (head: Buffer): Buffer => Buffer.concat([MAGIC, uint32(head.length), head])

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(number), 0)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

const cutOff = (): ArchiveRefused => new ArchiveRefused('cut_off', 'The archive is truncated.')
const damaged = (chunk: number): ArchiveRefused =>
  new ArchiveRefused('damaged', `The archive was modified or damaged at or before chunk ${chunk + 1}.`)

/** Shows that a secret is the right one, and reveals nothing about it. */
const checkOf = (key: Buffer): string =>
  createHmac('sha256', key).update('paymesh archive check').digest().subarray(0, 12).toString('base64')

const scryptBytes = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
)

async function archiveKey(secret: ArchiveSecret, salt: Buffer, kdf: ArchiveHead['kdf']): Promise<Buffer> {
  const wantsPassphrase = kdf.name === 'scrypt'
  if (wantsPassphrase !== (secret.kind === 'passphrase')) {
    const made = wantsPassphrase ? 'a passphrase' : 'a key file'
    throw new ArchiveRefused('wrong_secret', `This archive was created with ${made}.`)
  }
  let input: Uint8Array
  if (kdf.name === 'scrypt' && secret.kind === 'passphrase') input = await stretched(secret, kdf)
  else if (secret.kind === 'key' && secret.key.length === KEY_BYTES) input = secret.key
  else throw new Error('a key has 32 bytes')
  return Buffer.from(hkdfSync('sha256', input, salt, 'paymesh archive v1', KEY_BYTES))
}

const stretchings = new WeakMap<ArchiveSecret, Map<string, Promise<Buffer>>>()

/** The stretched passphrase, once for each secret and head. */
function stretched(
  secret: Extract<ArchiveSecret, { kind: 'passphrase' }>,
  kdf: Extract<ArchiveHead['kdf'], { name: 'scrypt' }>,
): Promise<Buffer> {
  const known = stretchings.get(secret) ?? new Map<string, Promise<Buffer>>()
  stretchings.set(secret, known)
  const { N, r, p, salt } = kdf
  const name = JSON.stringify([N, r, p, salt])
  const made =
    known.get(name) ??
    scryptBytes(secret.passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), KEY_BYTES, {
      N,
      r,
      p,
      maxmem: 256 * N * r,
    })
  known.set(name, made)
  return made
}

/** The header of an archive, as it stands there: it is authentic only once the archive was opened. Throws `ArchiveRefused` without one. */
export async function readArchiveHead(source: AsyncIterable<Uint8Array>): Promise<ArchiveHead> {
  return (await readFront(byteReader(source))).head
}
