import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { ArchiveSecret } from '#shared/runtime/secrets/archive-cipher.ts'

const PASSPHRASE_MIN = 12

/** Options of every command that opens or creates an archive; secrets are read only from files, never from the command line. */
export interface ArchiveSecretOptions {
  readonly passphraseFile?: string
  readonly keyFile?: string
}

/** Adds the two options to a command. */
export function withArchiveSecret(command: Command): Command {
  return command
    .option(
      '--passphrase-file <file>',
      `file with the passphrase, at least ${PASSPHRASE_MIN} characters; - reads it from stdin`,
    )
    .option(
      '--key-file <file>',
      'file with 32 random bytes in base64 (`openssl rand -base64 32`) instead of a passphrase',
    )
}

/** The secret from the options. Throws unless exactly one is given and valid. */
export function archiveSecret({ passphraseFile, keyFile }: ArchiveSecretOptions): ArchiveSecret {
  if ((passphraseFile === undefined) === (keyFile === undefined)) {
    throw new Error('set either --passphrase-file or --key-file')
  }
  if (keyFile !== undefined) {
    const key = Buffer.from(readFileSync(keyFile, 'utf8').trim(), 'base64')
    if (key.length !== 32) throw new Error(`${keyFile} does not contain 32 bytes in base64`)
    return { kind: 'key', key }
  }
  const passphrase = readFileSync(passphraseFile === '-' ? 0 : (passphraseFile ?? ''), 'utf8').replace(/\r?\n$/, '')
  if (passphrase.length < PASSPHRASE_MIN)
    throw new Error(`a passphrase must have at least ${PASSPHRASE_MIN} characters`)
  return { kind: 'passphrase', passphrase }
}
