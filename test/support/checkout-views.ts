import type {
  AssetOption,
  BooksView,
  FiatView,
  InvoiceView,
  LinkView,
  PaymentMethodView,
  PaymentView,
} from '#shared/contracts/checkout/invoice-view.ts'
import type { RefundView } from '#shared/contracts/checkout/refund-view.ts'
import type { AssetId, NetworkId } from '#shared/domain/enumerations.ts'

const MINUTE = 60_000
/** The id that every shown invoice and link has. */
export const SHOWN_ID = '01920a5e-4c7b-7d3a-9f21-6b8f0c1d2e40'
/** The hash in the path of the shown logo, which a page loads from its own origin. */
export const SHOWN_LOGO = 'ab'.repeat(32)
/** The token of the shown refund. */
export const SHOWN_TOKEN = 'q'.repeat(43)

const TRON: PaymentMethodView = {
  asset: 'usdt_tron',
  symbol: 'USDT',
  network: 'tron',
  family: 'tron',
  isToken: true,
  address: 'TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3',
  due: '148.59',
  remaining: '148.59',
  remainingBase: '148590000',
  uri: null,
  isExact: false,
  requiredConfirmations: 19,
  needsFinality: false,
  confirmMs: 57_000,
  blockTimeMs: 3_000,
  fiatPerAsset: '0.9994',
  quotedAt: 0,
  quoteEndsAt: 0,
  evm: null,
}

const BASE: PaymentMethodView = {
  ...TRON,
  asset: 'usdc_base',
  symbol: 'USDC',
  network: 'base',
  family: 'evm',
  address: '0x8282Ec02E4038c9F6789c1E7c2eCdc172Be26fDE',
  due: '148.52',
  remaining: '148.52',
  remainingBase: '148520000',
  uri: 'ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=0x8282Ec02E4038c9F6789c1E7c2eCdc172Be26fDE&uint256=148520000',
  requiredConfirmations: 64,
  confirmMs: 128_000,
  blockTimeMs: 2_000,
  fiatPerAsset: '0.9999',
  evm: {
    chainId: 8453,
    contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    addition: {
      name: 'Base',
      rpcUrl: 'https://mainnet.base.org',
      explorerUrl: 'https://basescan.org',
      coin: 'ETH',
    },
  },
}

const BITCOIN: PaymentMethodView = {
  ...TRON,
  asset: 'btc_bitcoin',
  symbol: 'BTC',
  network: 'bitcoin',
  family: 'bitcoin',
  isToken: false,
  address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  due: '0.00159915',
  remaining: '0.00159915',
  remainingBase: '159915',
  uri: 'bitcoin:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq?amount=0.00159915',
  requiredConfirmations: 2,
  confirmMs: 1_200_000,
  blockTimeMs: 600_000,
  fiatPerAsset: '92861.81',
}

const SOLANA: PaymentMethodView = {
  ...TRON,
  asset: 'usdc_solana',
  symbol: 'USDC',
  network: 'solana',
  family: 'solana',
  address: '7EYnhQoR9YM3N7UoaKRoA44Uy8JeaZV3qyouov87awMs',
  due: '148.52',
  remaining: '148.52',
  remainingBase: '148520000',
  requiredConfirmations: 32,
  confirmMs: 12_800,
  blockTimeMs: 400,
  browser: { chain: 'solana:mainnet', contract: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
}

const dollars = (value: string): FiatView => ({ value, currency: 'USD' })
const NOTHING_BOOKED: BooksView = {
  ...{ received: dollars('0.00'), short: dollars('148.50'), shortKind: 'outstanding', excess: null, refunded: null },
  ...{ coins: [], refunds: [] },
}
const USDT = (amount: string) => ({ amount, symbol: 'USDT', network: 'tron' as const })
const PAID_BOOKS: BooksView = {
  ...{ ...NOTHING_BOOKED, received: dollars('148.50'), short: null, shortKind: null, coins: [USDT('148.59')] },
}

type Change = Omit<Partial<InvoiceView>, 'paymentMethod'> & { readonly paymentMethod?: PaymentMethodView | null }

function view(now: number, change: Change = {}): InvoiceView {
  const { paymentMethod = TRON, ...rest } = change
  const timed =
    paymentMethod === null ? null : { ...paymentMethod, quotedAt: now - MINUTE, quoteEndsAt: now + 19 * MINUTE }
  return {
    id: SHOWN_ID,
    mode: 'live',
    number: 4_183,
    status: paymentMethod === null ? 'new' : 'pending',
    version: 1,
    merchant: { name: 'Casa Lumbre', contact: 'hola@casalumbre.example', logo: null, colour: null },
    orderId: 'LUM-20418',
    description: '3 × Geisha 250 g, 1 × gooseneck kettle',
    fiat: { value: '148.50', currency: 'USD' },
    createdAt: now - MINUTE,
    expiresAt: now + (paymentMethod === null ? 24 * 60 : 19) * MINUTE,
    paidAt: null,
    successUrl: 'https://casalumbre.example/thanks',
    cancelUrl: 'https://casalumbre.example/cart',
    paymentLinkId: null,
    paymentMethod: timed,
    received: paymentMethod === null ? '0' : '0.00',
    books: NOTHING_BOOKED,
    excess: '0',
    payments: [],
    hints: [],
    isPaidLate: false,
    isAcceptedShort: false,
    isUnread: false,
    canChoose: true,
    canRenew: true,
    ...rest,
  }
}

function payment(now: number, change: Partial<PaymentView> = {}): PaymentView {
  return {
    amount: '147.59',
    symbol: 'USDT',
    state: 'confirmed',
    confirmations: 19,
    requiredConfirmations: 19,
    txHash: '91886d5e6b4f5225cb6ffae992e2b2246a97343a2388aaca0cc82af428e1c3a4',
    explorerUrl: 'https://tronscan.org/#/transaction/91886d5e6b4f5225cb6ffae992e2b2246a97343a2388aaca0cc82af428e1c3a4',
    seenAt: now - 8 * MINUTE,
    isLate: false,
    isSimulated: false,
    uncounted: null,
    ...change,
  }
}

const OTHER_HASH = '9491dddca56262313b5aef7d1675ff180d19da86e6b56edb5d35eb9af96d03b8'
const spent = (paymentMethod: PaymentMethodView): PaymentMethodView => ({
  ...paymentMethod,
  remaining: '0',
  remainingBase: '0',
  uri: null,
})
const over = (now: number) => ({ expiresAt: now - 2 * MINUTE, canChoose: false, canRenew: false })

/** Every state that a payer may meet, by the name of its step. The story is one invoice whose exchange kept a fee. */
export function invoiceViews(now: number): Readonly<Record<string, InvoiceView>> {
  const first = payment(now)
  const rest = payment(now, {
    amount: '1.00',
    state: 'detected',
    confirmations: 12,
    txHash: OTHER_HASH,
    seenAt: now - MINUTE,
  })
  const full = {
    received: '148.59',
    payments: [first, rest],
    canChoose: false,
    canRenew: false,
    paymentMethod: spent(TRON),
  } as const
  const paid = {
    ...full,
    status: 'paid',
    books: PAID_BOOKS,
    paidAt: now,
    payments: [first, { ...rest, state: 'confirmed', confirmations: 19 }],
  } as const
  const lateOne = payment(now, { amount: '148.59', isLate: true, seenAt: now - MINUTE })
  return {
    pick: view(now, { paymentMethod: null }),
    pay: view(now),
    'pay-evm': view(now, { paymentMethod: BASE, mode: 'test' }),
    'pay-solana': view(now, { paymentMethod: SOLANA }),
    branded: view(now, {
      merchant: {
        name: 'Sol y Luna, café de especialidad',
        contact: null,
        colour: '#ffd500',
        logo: { path: `/logo/${SHOWN_LOGO}.webp`, width: 480, height: 160, ground: 'light' },
      },
    }),
    'pay-bitcoin': view(now, { paymentMethod: BITCOIN }),
    'pay-soon-over': {
      ...view(now),
      expiresAt: now + 4 * MINUTE,
      paymentMethod: { ...TRON, quotedAt: now - 16 * MINUTE, quoteEndsAt: now + 4 * MINUTE },
    },
    lapsed: {
      ...view(now),
      expiresAt: now + 60 * MINUTE,
      paymentMethod: { ...TRON, quotedAt: now - 30 * MINUTE, quoteEndsAt: now - MINUTE },
    },
    checking: view(now, { ...over(now) }),
    'checking-partial': view(now, { ...over(now), status: 'partial', received: '147.59', payments: [first] }),
    'expired-unread': view(now, { ...over(now), status: 'expired', isUnread: true }),
    partial: view(now, {
      status: 'partial',
      received: '147.59',
      payments: [first],
      canChoose: false,
      paymentMethod: { ...TRON, remaining: '1.00', remainingBase: '1000000' },
    }),
    'lapsed-partial': {
      ...view(now, { status: 'partial', received: '147.59', payments: [first], canChoose: false }),
      expiresAt: now + 60 * MINUTE,
      paymentMethod: { ...TRON, quotedAt: now - 30 * MINUTE, quoteEndsAt: now - MINUTE, remaining: '1.00' },
    },
    announced: view(now, {
      paymentMethod: BASE,
      hints: [
        { txHash: `0x${OTHER_HASH}`, explorerUrl: `https://basescan.org/tx/0x${OTHER_HASH}`, at: now - MINUTE },
        { txHash: `0x${'ab'.repeat(32)}`, explorerUrl: null, at: now - 20 * MINUTE },
      ],
    }),
    'stepped-back': view(now, { payments: [payment(now, { state: 'orphaned', confirmations: 0 })], canChoose: false }),
    confirming: view(now, { ...full, status: 'confirming' }),
    'confirming-long': view(now, {
      ...full,
      status: 'confirming',
      paymentMethod: spent(BASE),
      isPaidLate: true,
      payments: [
        payment(now, {
          symbol: 'USDC',
          state: 'detected',
          confirmations: 7,
          requiredConfirmations: 64,
          isLate: true,
          explorerUrl: null,
        }),
      ],
    }),
    paid: view(now, paid),
    'paid-simulated': view(now, {
      ...paid,
      mode: 'test',
      payments: [payment(now, { isSimulated: true, txHash: null, explorerUrl: null })],
    }),
    overpaid: view(now, {
      ...paid,
      ...{ status: 'overpaid', received: '150.00', excess: '1.41' },
      books: { ...PAID_BOOKS, received: dollars('149.91'), excess: dollars('1.41'), coins: [USDT('150.00')] },
    }),
    refunded: view(now, {
      ...paid,
      books: {
        ...PAID_BOOKS,
        refunded: dollars('148.50'),
        refunds: [{ ...USDT('148.59'), txHash: OTHER_HASH, explorerUrl: null, at: now }],
      },
    }),
    'late-refunded': view(now, {
      ...{ status: 'expired', received: '148.59', payments: [lateOne], ...over(now) },
      books: { ...NOTHING_BOOKED, refunds: [{ ...USDT('148.59'), txHash: null, explorerUrl: null, at: now }] },
    }),
    'accepted-short': view(now, {
      ...{ ...paid, received: '147.59', isAcceptedShort: true, payments: [first] },
      books: {
        ...{ ...PAID_BOOKS, received: dollars('147.50'), short: dollars('1.00'), shortKind: 'accepted' },
        coins: [USDT('147.59')],
      },
    }),
    expired: view(now, { status: 'expired', ...over(now) }),
    short: view(now, { status: 'expired', received: '147.59', payments: [first], ...over(now) }),
    late: view(now, { status: 'expired', received: '148.59', payments: [lateOne], ...over(now) }),
    'wrong-coin': view(now, {
      status: 'expired',
      payments: [payment(now, { symbol: 'USDC', amount: '148.52', uncounted: 'wrong_asset' })],
      merchant: { name: 'Casa Lumbre', contact: '+1 809 555 0100', logo: null, colour: null },
      ...over(now),
    }),
    cancelled: view(now, { status: 'cancelled', ...over(now) }),
  }
}

/** Free texts as an attacker would write them into every field that a payer is shown. */
export function hostileView(now: number): InvoiceView {
  const text = '<script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe\u0007'
  return {
    ...view(now),
    merchant: { name: text, contact: 'javascript:alert(1)', logo: null, colour: null },
    orderId: text,
    description: `${text}${'W'.repeat(300)}`,
    successUrl: 'javascript:alert(3)',
    cancelUrl: 'javascript:alert(4)',
  }
}

const option = (
  asset: AssetId,
  symbol: string,
  name: string,
  network: NetworkId,
  estimate: string,
  confirmMs: number,
): AssetOption => ({
  asset,
  symbol,
  name,
  network,
  estimate,
  confirmMs,
  isAvailable: network !== 'solana',
})

/** Coins and networks of the picture, one of them paused. */
export const ASSET_OPTIONS: readonly AssetOption[] = [
  option('btc_bitcoin', 'BTC', 'Bitcoin', 'bitcoin', '0.00159915', 1_200_000),
  option('ltc_litecoin', 'LTC', 'Litecoin', 'litecoin', '1.59660252', 900_000),
  option('eth_ethereum', 'ETH', 'Ether', 'ethereum', '0.044823', 144_000),
  option('usdt_ethereum', 'USDT', 'Tether USD', 'ethereum', '148.59', 144_000),
  option('usdt_bsc', 'USDT', 'Tether USD', 'bsc', '148.59', 6_750),
  option('usdt_polygon', 'USDT', 'Tether USD', 'polygon', '148.59', 128_000),
  option('usdt_tron', 'USDT', 'Tether USD', 'tron', '148.59', 57_000),
  option('usdt_solana', 'USDT', 'Tether USD', 'solana', '148.59', 12_800),
  option('usdc_base', 'USDC', 'USD Coin', 'base', '148.52', 20_000),
]

const LINK: LinkView = {
  id: SHOWN_ID,
  mode: 'test',
  isActive: true,
  merchant: { name: 'Casa Lumbre', contact: 'https://casalumbre.example/help', logo: null, colour: null },
  title: 'Barista workshop, instalment',
  description: 'Barista workshop, pay in instalments. Place reserved with the first payment.',
  currency: 'MXN',
  amount: { kind: 'custom', min: '200.00', max: '5000.00' },
}

/** Payment links by state. */
export const LINK_VIEWS: Readonly<Record<string, LinkView>> = {
  'link-custom': LINK,
  'link-fixed': { ...LINK, mode: 'live', amount: { kind: 'fixed', value: '1250.00' } },
  'link-ended': { ...LINK, isActive: false },
  'link-suspended': { ...LINK, isActive: false, isSuspended: true },
}

const REFUND: RefundView = {
  merchant: 'Casa Lumbre',
  shop: { name: 'Casa Lumbre', contact: 'hola@casalumbre.example', logo: null, colour: null },
  mode: 'live',
  invoiceNumber: 4_183,
  symbol: 'USDT',
  network: 'tron',
  amount: '1.41',
  status: 'requested',
  address: null,
  txHash: null,
  expiresAt: 1_800_000_000_000,
}

/** Refunds by state. */
export const REFUND_VIEWS: Readonly<Record<string, RefundView>> = {
  'refund-requested': REFUND,
  'refund-addressed': { ...REFUND, status: 'addressed', address: TRON.address },
  'refund-sent': { ...REFUND, status: 'sent', address: TRON.address, txHash: OTHER_HASH },
}
