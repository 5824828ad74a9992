import { spawn } from 'node:child_process'

const LIMIT_MS = 10 * 60_000

/** Settings of a story: address, key, events, the code of an unknown invoice, and the document. */
export type StorySettings = Readonly<Record<'BASE_URL' | 'API_KEY' | 'EVENT_FILES' | 'ERROR_CODE' | 'DOCUMENT', string>>

/** A program in a folder, which must end with status 0. The installation runs in this process, so nothing here may block it. */
export class Shell {
  readonly #settings: StorySettings
  constructor(settings: StorySettings) {
    this.#settings = settings
  }

  /** Runs a command; resolves with its output, or rejects with the end of it. */
  async run(folder: string, command: string, ...args: readonly string[]): Promise<string> {
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, ...this.#settings, CLIENT: folder, GOFLAGS: '-mod=mod' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LIMIT_MS,
    })
    let [output, text] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      output += part
      text += part
    })
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const status = await new Promise<number | null>((ended, failed) => {
      child.once('error', failed)
      child.once('close', ended)
    })
    if (status === 0) return output
    throw new Error(`${command} ${args[0]}: ${text.trim().split('\n').slice(-6).join(' / ').slice(-600)}`)
  }
}
