import { invalidField } from '#shared/contracts/errors.ts'

const LENGTH_MIN = 12
/** Longer ones are no safer and only cost time. */
const LENGTH_MAX = 200

/**
 * The most common long passwords, and parts that make a longer password guessable when it contains nothing else. Short ones are
 * refused by their length.
 */
const COMMON = [
  '123456789012',
  '1234567890123',
  '12345678901234',
  '123456789123',
  '111111111111',
  '000000000000',
  'qwertyuiop123',
  'qwertyuiopasdf',
  'qwertyuiop[]',
  'qwerty123456',
  'qwerty1234567',
  '1q2w3e4r5t6y',
  'password1234',
  'password12345',
  'password123456',
  'passwordpassword',
  'passw0rd1234',
  'iloveyou1234',
  'iloveyouforever',
  'administrator',
  'adminadmin12',
  'letmeinletmein',
  'welcome12345',
  'changemeplease',
  'changeme1234',
  'paymeshpaymesh',
  'bitcoinbitcoin',
  'abcdefghijkl',
  'abcdefghijklm',
  'abc123abc123',
  'trustno1trustno1',
  'correcthorsebatterystaple',
] as const

/** Throws `VALIDATION_ERROR` at `path` when it is too short or too long, the e-mail address, or among the commonest. */
export function checkPassword(password: string, email: string, path = 'password'): void {
  const fault = faultOf(password.normalize('NFKC'), email.toLowerCase())
  if (fault !== null) throw invalidField(path, fault)
}

function faultOf(password: string, email: string): string | null {
  const lower = password.toLowerCase()
  if ([...password].length < LENGTH_MIN)
    return `Use at least ${LENGTH_MIN} characters. A phrase of four words works well.`
  if (password.length > LENGTH_MAX) return `Use at most ${LENGTH_MAX} characters.`
  if (lower === email || lower === email.slice(0, email.indexOf('@'))) return 'Do not use your email address.'
  if (COMMON.some((common) => common === lower)) return 'This is one of the most common passwords. Choose another one.'
  if (new Set(lower).size < 4) return 'This password has too few different characters. Choose another one.'
  return null
}
