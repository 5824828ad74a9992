import { SMTPServer, type SMTPServerSession } from 'smtp-server'

/** One message as a mail server received it. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Raw message. */
  readonly source: string
}

/** What the server does: takes everything, refuses at a stage with a code, or misbehaves. */
export type SinkBehaviour =
  | { readonly kind: 'accept' }
  | { readonly kind: 'refuse'; readonly stage: 'connect' | 'sender' | 'recipient' | 'message'; readonly code: number }
  /** Never answers: the greeting, or the message when it is complete. */
  | { readonly kind: 'hang'; readonly stage: 'connect' | 'message' }
  /** Takes the message, then drops the connection instead of saying so. */
  | { readonly kind: 'reset' }

/** A real SMTP server on a random loopback port. */
export interface SmtpSink {
  readonly url: string
  readonly port: number
  /** What was taken, the last one of `reset` and `hang` included. */
  readonly mails: readonly ReceivedMail[]
  /** Logins that were tried so far. */
  readonly logins: () => number
  behave(behaviour: SinkBehaviour): void
  close(): Promise<void>
}

/** A sink that takes everything until told otherwise. With a login, only `user` and `secret` get in. */
export async function startSmtpSink(
  options: { readonly login?: boolean; readonly host?: string } = {},
): Promise<SmtpSink> {
  const { host = '127.0.0.1' } = options
  const mails: ReceivedMail[] = []
  let logins = 0
  let behaviour: SinkBehaviour = { kind: 'accept' }
  type Next = (error?: Error | null) => void
  const at = (stage: 'connect' | 'sender' | 'recipient' | 'message', next: Next): void => {
    if (behaviour.kind === 'refuse' && behaviour.stage === stage) {
      next(Object.assign(new Error(`no at ${stage}`), { responseCode: behaviour.code }))
    } else if (behaviour.kind === 'hang' && behaviour.stage === stage) return
    else next()
  }
  const server = new SMTPServer({
    logger: false,
    authOptional: options.login !== true,
    disabledCommands: ['STARTTLS', ...(options.login === true ? [] : ['AUTH'])],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 50,
    onAuth: ({ username, password }, _session, done) => {
      logins += 1
      if (username === 'user' && password === 'secret') done(null, { user: 'user' })
      else done(new Error('wrong login'))
    },
    onConnect: (_session, next) => at('connect', next),
    onMailFrom: (_address, _session, next) => at('sender', next),
    onRcptTo: (_address, _session, next) => at('recipient', next),
    onData: (stream, session, next) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (behaviour.kind !== 'refuse') mails.push(received(session, chunks))
        if (behaviour.kind === 'reset') for (const { _socket } of server.connections) _socket.destroy()
        else at('message', next)
      })
    },
  })
  // A peer that cuts a conversation off is part of the game.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const address = server.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `smtp://${host}:${port}`,
    port,
    mails,
    logins: () => logins,
    behave: (next) => {
      behaviour = next
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

function received({ envelope }: SMTPServerSession, chunks: readonly Buffer[]): ReceivedMail {
  return {
    from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
    to: envelope.rcptTo.map(({ address }) => address),
    source: Buffer.concat(chunks).toString('utf8'),
  }
}
