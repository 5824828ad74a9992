/** A thing that outsiders can use up. Counts are numbers of things, times are milliseconds. */
export interface ScarceThing<Budget extends object = object> {
  readonly what: string
  /** Who can use it up. */
  readonly takenBy: string
  /** The numbers that the enforcing code reads. */
  readonly budget: Budget
  /** The budget in a sentence, made of its numbers. */
  readonly rule: string
  /** The file that enforces it. */
  readonly enforcedIn: string
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

const PAYER = 'anybody with the address of a page for payers'
const NOBODY = 'anybody at the page to log in'
const PERSON = 'a person with an account'
const PROGRAM = 'a program with an API key'

/** Of what payers share with the merchant's own programs, and one connection's part of what all payers have. */
const VISITORS = { reservePercent: 50, reservePercentMax: 90, part: 4, min: 2 } as const
const VISITORS_RULE = `All visitors have what the merchant does not reserve (${VISITORS.reservePercent} % unless changed, ${VISITORS.reservePercentMax} % at most). One connection has 1/${VISITORS.part} of that, at least ${VISITORS.min}`

/**
 * Everything that somebody outside can use up, with its budget: the code that enforces a budget reads its numbers here, the table
 * `docs/security/scarce.md` is written from here, and one test takes each thing as one source until it is refused, and then as another one. A
 * connection is an IPv4 address or the /64 of an IPv6 one, as the trusted proxies report it.
 */
export const SCARCE = {
  linkUses: thing(
    {
      percent: 10,
      choiceMs: 10 * MINUTE_MS,
      quotesMax: 3,
      waitFirstMs: 20 * MINUTE_MS,
      waitMaxMs: 6 * HOUR_MS,
      forgottenAfterMs: 24 * HOUR_MS,
    },
    ({ percent, choiceMs, quotesMax, waitFirstMs, waitMaxMs, forgottenAfterMs }) => ({
      what: 'uses of a payment link with a limit, while they are unpaid',
      takenBy: PAYER,
      rule: `One connection holds ${percent} % of the uses, rounded up. A use without a coin returns after ${minutes(choiceMs)}; with a coin and without money it returns when its last quote ends, and no quote begins later than ${minutes(choiceMs)} and the length of ${quotesMax - 1} quotes after the invoice was made. A connection that let a use return twice in a row waits ${minutes(waitFirstMs)} for its place, then twice as long each time, at most ${hours(waitMaxMs)}; ${hours(forgottenAfterMs)} after the last one that is forgotten`,
      enforcedIn: 'shared/usecases/payment-links/pay-link.ts',
    }),
  ),
  linkPlan: thing(VISITORS, () => ({
    what: 'the invoices of a monthly plan that payment links may make',
    takenBy: PAYER,
    rule: `${VISITORS_RULE}, until it pays or the month ends`,
    enforcedIn: 'shared/usecases/payment-links/pay-link.ts',
  })),
  poolAddresses: thing(VISITORS, () => ({
    what: 'addresses of a wallet that is a list of addresses',
    takenBy: PAYER,
    rule: `${VISITORS_RULE}, until it pays or the address returns`,
    enforcedIn: 'shared/usecases/quotes/visitor-budget.ts',
  })),
  uniqueAmounts: thing(VISITORS, () => ({
    what: 'amounts of a wallet that is one address',
    takenBy: PAYER,
    rule: `${VISITORS_RULE}, until it pays or the amount returns`,
    enforcedIn: 'shared/usecases/quotes/visitor-budget.ts',
  })),
  keyAddresses: thing({ perDay: 50 }, ({ perDay }) => ({
    what: 'addresses of an extended key: each one without money lengthens the gap that a wallet program must search',
    takenBy: PAYER,
    rule: `One connection takes ${perDay} addresses of a key a day (UTC) that it does not pay`,
    enforcedIn: 'shared/usecases/quotes/visitor-budget.ts',
  })),
  openWatches: thing(
    { total: 100, part: 10, min: 2, quotaPercent: 50, callsOfOne: 25, usualMs: 20 * MINUTE_MS, longestTimes: 10 },
    ({ total, part, min, quotaPercent, callsOfOne, usualMs, longestTimes }) => ({
      what: 'unpaid invoices of visitors that a network watches for: each costs calls to its nodes',
      takenBy: PAYER,
      rule: `All visitors have ${total} at a time on each network of the installation. Where a network has a quota and is read for open invoices alone, they have as many as use ${quotaPercent} % of it when each is opened again every ${minutes(usualMs)} and costs ${callsOfOne} calls, at least ${min}. Shorter and longer quotes change the number with them, up to ${longestTimes} times. One connection has 1/${part} of it, at least 1, until enough money is seen or the invoice ends`,
      enforcedIn: 'shared/usecases/quotes/visitor-budget.ts',
    }),
  ),
  checkoutReads: bucket('reads of pages for payers', { capacity: 240, intervalMs: 200 }),
  checkoutPosts: bucket('requests of pages for payers that change something, refused ones included', {
    capacity: 240,
    intervalMs: 250,
  }),
  coinChoices: bucket('choices of a coin, and new prices', { capacity: 20, intervalMs: 15 * SECOND_MS }),
  linkInvoices: bucket('invoices of payment links', { capacity: 20, intervalMs: 15 * SECOND_MS }),
  paymentHints: bucket('announced transactions', { capacity: 10, intervalMs: 20 * SECOND_MS }),
  walletPayments: bucket('transactions built for a wallet', { capacity: 10, intervalMs: 6 * SECOND_MS }),
  signedPayments: bucket('signed transactions handed to a node', { capacity: 10, intervalMs: 6 * SECOND_MS }),
  paidQuestions: bucket('questions about a transaction, and addresses for refunds', {
    capacity: 6,
    intervalMs: 20 * SECOND_MS,
  }),
  openQuestions: places('questions to nodes that wait for their answer', PAYER, 'connection', {
    ...{ perOwner: 2, total: 64 },
    enforcedIn: 'services/checkout/invoice-routes.ts',
  }),
  checkoutStreams: places('connections of pages that watch an invoice; a page without one polls', PAYER, 'connection', {
    ...{ perOwner: 30, total: 5_000 },
    enforcedIn: 'services/checkout/live-stream.ts',
  }),
  dashboardStreams: places('live views of the dashboard', PERSON, 'person', {
    ...{ perOwner: 30, total: 2_000 },
    enforcedIn: 'services/admin/assemble.ts',
  }),
  eventStreams: places('streams of events (`/listen`)', PROGRAM, 'workspace', {
    ...{ perOwner: 10, total: 200 },
    enforcedIn: 'services/admin/assemble.ts',
  }),
  eventCatchUps: places('streams of events that read the history of the store', PROGRAM, 'workspace', {
    ...{ perOwner: 2, total: 4 },
    enforcedIn: 'services/admin/assemble.ts',
  }),
  pictures: work('decodings of a picture, each up to 64 MB and 0.4 s of a thread', 'person', {
    perOwner: 1,
    beginsMax: 20,
  }),
  passwordHashes: work('hashes of a password that a person enters again or sets', 'log-in', {
    perOwner: 3,
    beginsMax: 40,
  }),
  linkHashes: work('hashes of a password that is set through a mailed link, which works once', 'link', { perOwner: 2 }),
  exports: work('files of any length that are read from the store', 'person', { perOwner: 2, beginsMax: 60 }),
  walletReadings: work('readings of up to 10,000 addresses or signatures, and derivations of a key', 'person', {
    ...{ perOwner: 10, beginsMax: 300 },
  }),
  nodeSearches: work('searches of the dashboard that ask nodes', 'person', { perOwner: 4, beginsMax: 300 }),
  apiRequests: thing({ burst: 60, perMinute: 120 }, ({ burst, perMinute }) => ({
    what: 'requests of the REST API and of `/listen`',
    takenBy: `${PROGRAM}; without one, anybody`,
    rule: `${burst} at once and ${perMinute} a minute: of one key, and of one connection without a valid key`,
    enforcedIn: 'shared/queues/rate-limiter.ts',
  })),
  balanceReadings: thing({ waiting: 20, readings: 500, windowMs: 10 * MINUTE_MS }, (budget) => ({
    what: 'readings of balances from nodes',
    takenBy: PERSON,
    rule: `One workspace has one reading at a time, ${budget.waiting} that wait, and ${budget.readings} within ${minutes(budget.windowMs)}`,
    enforcedIn: 'shared/usecases/funds/funds-gate.ts',
  })),
  passwordTries: thing(
    { free: 20, firstWaitMs: SECOND_MS, waitMaxMs: 30 * SECOND_MS, forgottenAfterMs: HOUR_MS },
    ({ free, waitMaxMs }) => ({
      what: 'turns of the threads that check passwords',
      takenBy: NOBODY,
      rule: `One connection has one try at a time, and none is refused; after ${free} wrong ones the answer comes later, at most ${waitMaxMs / SECOND_MS} s`,
      enforcedIn: 'shared/usecases/accounts/login-throttle.ts',
    }),
  ),
  resetRequests: thing(
    { free: 20, firstWaitMs: SECOND_MS, waitMaxMs: MINUTE_MS, forgottenAfterMs: HOUR_MS },
    ({ free, waitMaxMs }) => ({
      what: 'requests for a mail with a link to a new password',
      takenBy: NOBODY,
      rule: `One connection has ${free}, for all addresses together, and then one after a wait that grows to ${minutes(waitMaxMs)}`,
      enforcedIn: 'shared/usecases/accounts/reset-own-password.ts',
    }),
  ),
} as const satisfies Readonly<Record<string, ScarceThing>>

/** A thing of the table. */
export type Scarce = keyof typeof SCARCE

function thing<Budget extends object>(
  budget: Budget,
  say: (budget: Budget) => Omit<ScarceThing, 'budget'>,
): ScarceThing<Budget> {
  return { ...say(budget), budget }
}

/** Tokens of a connection: `capacity` at once, and one more after each interval. */
function bucket(what: string, budget: { readonly capacity: number; readonly intervalMs: number }) {
  const perMinute = MINUTE_MS / budget.intervalMs
  return thing(budget, ({ capacity }) => ({
    what,
    takenBy: PAYER,
    rule: `One connection has ${capacity} at once and ${perMinute} a minute`,
    enforcedIn: 'services/checkout/limits.ts',
  }))
}

/** Places that their owner leaves again: of one owner, and of a process. */
function places(
  what: string,
  takenBy: string,
  owner: string,
  { enforcedIn, ...budget }: { readonly perOwner: number; readonly total: number; readonly enforcedIn: string },
) {
  return thing(budget, ({ perOwner, total }) => ({
    what,
    takenBy,
    rule: `One ${owner} has ${perOwner} of the ${total} of a process`,
    enforcedIn,
  }))
}

/** Expensive work that a person has done through the dashboard: at the same time, and begun within ten minutes. Counted by each process. */
function work(what: string, owner: string, given: { readonly perOwner: number; readonly beginsMax?: number }) {
  const { perOwner, beginsMax } = given
  const windowMs = 10 * MINUTE_MS
  const within = beginsMax === undefined ? '' : ` and ${beginsMax} within ${minutes(windowMs)}`
  return thing({ perOwner, ...(beginsMax !== undefined && { begins: { max: beginsMax, windowMs } }) }, () => ({
    what,
    takenBy: PERSON,
    rule: `One ${owner} has ${perOwner} at once${within}, in each process`,
    enforcedIn: 'services/admin/work-budgets.ts',
  }))
}

function minutes(ms: number): string {
  return ms === MINUTE_MS ? 'a minute' : `${ms / MINUTE_MS} minutes`
}

function hours(ms: number): string {
  return `${ms / HOUR_MS} hours`
}
