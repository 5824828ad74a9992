import { SCARCE } from '#shared/domain/scarce.ts'

/** What has no budget for each source, and why. */
const UNDIVIDED: readonly (readonly [what: string, takenBy: string, why: string])[] = [
  [
    'calls to nodes for invoices that a merchant’s program makes',
    'a program with an API key',
    'the merchant’s own payers are not counted; the quota of a network warns at 80 % and slows its scanner at 95 %',
  ],
  [
    'the five announced transactions of one invoice',
    'anybody with the invoice’s address',
    'they are shown and decide nothing; a stranger who has the address of an invoice can fill them ([THREATS](THREATS.md) 35)',
  ],
  [
    'places of a process (the second number of a rule)',
    'many connections at once',
    'pages without a place poll, programs try again; more processes have more places',
  ],
  [
    'uses of a limited link, and what a plan or a network leaves to visitors',
    'many connections at once, also many /64 of one provider',
    'each has its share, and their uses return in minutes; the merchant deactivates the link or raises the limit ([THREATS](THREATS.md) 37)',
  ],
  [
    'requests of the dashboard, files of pages, and open connections of a process',
    'anybody',
    'each costs at most one read of the store, and a request has 30 s; the proxy in front bounds their number',
  ],
  [
    'rows of the inbox for transfers that match nothing',
    'anybody who sends coins to an address of the installation',
    'each costs its sender a transfer; dust has no row',
  ],
  [
    'mails with an invitation',
    'a person with the right to invite',
    'each is a row of the audit log that names the person',
  ],
  [
    'links to a new password that work at a time (three of one person)',
    'anybody who has the person’s address',
    'those in the mailbox go on working ([THREATS](THREATS.md) 34)',
  ],
]

/** Text of `docs/security/scarce.md`. */
export function scarceTable(): string {
  const rows = Object.entries(SCARCE).map(
    ([id, { what, takenBy, rule, enforcedIn }]) =>
      `| \`${id}\` | ${what} | ${takenBy} | ${rule}. | [${enforcedIn.split('/').at(-1)}](../../${enforcedIn}) |`,
  )
  const open = UNDIVIDED.map((cells) => `| ${cells.join(' | ')} |`)
  return `# Scarce things

What outsiders can use up, and how much of it one of them gets. This page is written from \`shared/domain/scarce.ts\`, where the code that enforces a
budget reads its numbers. \`test/security/scarce.int.test.ts\` takes each thing of this table as one source until it is refused, checks that this was the
budget, and takes it as another source; it does not compile while a thing has no such probe.

A connection is an IPv4 address, or the /64 of an IPv6 one, as the trusted proxies report it ([decision 13](../decisions/0013-reservations.md)).

| thing | what it is | who can use it up | budget | enforced in |
|---|---|---|---|---|
${rows.join('\n')}

Not divided by source:

| what | who can use it up | why that is so |
|---|---|---|
${open.join('\n')}
`
}
