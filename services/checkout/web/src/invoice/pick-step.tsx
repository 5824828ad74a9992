import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { AssetOptionsView, InvoiceView, MerchantView, NoOption } from '#shared/contracts/checkout/invoice-view.ts'
import type { AssetId, FiatCode } from '#shared/domain/enumerations.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { request } from '../data/request.ts'
import { durationText, roughText } from '../format/format-values.ts'
import { noneText } from '../format/problem-text.ts'
import { Foreign, Say, useSpeech } from '../locales/locale.tsx'
import { Hero } from '../parts/blocks.tsx'
import { ContactHint } from '../parts/contact.tsx'
import { Steps } from '../parts/steps.tsx'
import { CoinCard, coinsOf } from './coin-card.tsx'
import { useAction } from './use-action.ts'

/** Estimates are refreshed at this interval. */
const REFRESH_MS = 30_000
/** Until there are some, they are requested this often. */
const RETRY_MS = 5_000
/** The time left is shown when it is shorter. */
const SHOWN_MS = 3_600_000

interface PickProps {
  readonly view: InvoiceView
  /** The store's clock. */
  readonly now: number
  /** The coins as they came with the invoice; null requests them. */
  readonly options: AssetOptionsView | null
  readonly accept: (view: InvoiceView, now: number) => void
  readonly refresh: () => void
  /** Leaves the choice unchanged; null while there is none to return to. */
  readonly keep: (() => void) | null
}

/** The choice of an invoice's coin; nothing is reserved before the button is pressed. */
export function PickStep({ view, now, options, accept, refresh, keep }: PickProps) {
  const { say } = useSpeech()
  const { run, isBusy, problem } = useAction(view, accept, refresh)
  const { paymentMethod } = view
  const stay =
    keep === null || paymentMethod === null
      ? null
      : { text: say('pick.keep', { c: paymentMethod.symbol, n: NETWORKS[paymentMethod.network].name }), go: keep }
  return (
    <CoinPicker
      from={`/i/${view.id}/assets`}
      first={options}
      merchant={view.merchant}
      currency={view.fiat.currency}
      canChoose={view.canChoose}
      isBusy={isBusy}
      problem={problem}
      choose={(asset) => void run('asset', { asset }, keep)}
      stay={stay}
    >
      <h1 tabIndex={-1}>{say('pick.title')}</h1>
      <p class="sub">{say('pick.sub')}</p>
      {paymentMethod === null && view.expiresAt - now < SHOWN_MS && (
        <p class="sub">{say('pick.within', { t: roughText(view.expiresAt - now) })}</p>
      )}
    </CoinPicker>
  )
}

interface OptionsSource {
  /** Path of the options, below `/api`. */
  readonly from: string
  /** The options of now; null requests them. */
  readonly first: AssetOptionsView | null
}

interface PickerProps {
  readonly merchant: MerchantView
  /** Of the price. */
  readonly currency: FiatCode
  readonly canChoose: boolean
  readonly isBusy: boolean
  readonly problem: string | null
  readonly choose: (asset: AssetId) => void
  /** A second button, which returns to an earlier choice. */
  readonly stay: { readonly text: string; readonly go: () => void } | null
  /** The heading. */
  readonly children: ComponentChildren
}

/** Coins, then networks of that coin; why there is none, where no coin can pay the price. */
export function CoinPicker({ from, first, ...props }: PickerProps & OptionsSource) {
  const options = useOptions(from, first)
  return options?.none === undefined ? (
    <Coins options={options} {...props} />
  ) : (
    <NoCoin none={options.none} {...props} />
  )
}

function NoCoin({ none, merchant, currency, stay }: PickerProps & { readonly none: NoOption }) {
  const speech = useSpeech()
  return (
    <>
      <Steps names={['step.coin', 'step.pay', 'step.confirm']} at={0} />
      <Hero tone="expired" icon="alert" title={speech.say(`none.${none.cause}.title`)}>
        <p>{noneText(speech, none, currency, merchant.name)}</p>
        <ContactHint merchant={merchant} />
      </Hero>
      {stay !== null && (
        <div class="acts">
          <button type="button" class="button" onClick={stay.go}>
            {stay.text}
          </button>
        </div>
      )}
    </>
  )
}

function Coins({
  options,
  merchant,
  canChoose,
  isBusy,
  problem,
  choose,
  stay,
  children,
}: PickerProps & { readonly options: AssetOptionsView | null }) {
  const { say } = useSpeech()
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState<AssetId | null>(null)
  const [openCoin, setOpenCoin] = useState<string | null>(null)
  const assets = options?.assets ?? []
  const coins = useMemo(() => coinsOf(assets, search), [assets, search])
  const available = assets.filter(({ isAvailable }) => isAvailable)
  const only = available.length === 1 ? available[0]?.asset : undefined
  const option = assets.find(({ asset }) => asset === (chosen ?? only)) ?? null
  const open = openCoin ?? option?.symbol ?? coins[0]?.symbol ?? null

  return (
    <>
      <Steps names={['step.coin', 'step.pay', 'step.confirm']} at={0} />
      {children}
      {!canChoose && (
        <p class="tip" role="alert">
          <Say w="pick.suspended" m={<Foreign text={merchant.name} />} />
        </p>
      )}
      {assets.length > 0 && <Search value={search} onInput={setSearch} />}
      {options === null && <p class="sub">{say('loading')}</p>}
      {assets.length > 0 && available.length === 0 && (
        <p class="tip" role="alert">
          {say('pick.paused.all')} {say('pick.paused.again')}
        </p>
      )}
      {assets.length > 0 && coins.length === 0 && <p class="tip">{say('pick.notFound')}</p>}
      {/* biome-ignore lint/a11y/useSemanticElements: each coin contains its own fieldset */}
      <div class="coins" role="group" aria-label={say('pick.coins')}>
        {coins.map((coin) => (
          <CoinCard
            key={coin.symbol}
            coin={coin}
            isOpen={coin.symbol === open}
            chosen={option?.asset ?? null}
            toggle={() => setOpenCoin(coin.symbol === open ? '' : coin.symbol)}
            choose={setChosen}
          />
        ))}
      </div>
      <div class="stick">
        {problem !== null && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button
          type="button"
          class="button main"
          aria-disabled={option === null || isBusy || !canChoose}
          aria-busy={isBusy}
          onClick={() => {
            if (option !== null && !isBusy && canChoose) choose(option.asset)
          }}
        >
          {option === null
            ? say('pick.choose')
            : say('pick.continue', { c: option.symbol, n: NETWORKS[option.network].name })}
        </button>
        {stay !== null && (
          <button type="button" class="button" onClick={stay.go}>
            {stay.text}
          </button>
        )}
        {options !== null && <p>{say('pick.hold', { t: durationText(options.holdMs) })}</p>}
      </div>
    </>
  )
}

function useOptions(from: string, first: AssetOptionsView | null): AssetOptionsView | null {
  const [options, setOptions] = useState(first)
  const isLoaded = options !== null
  useEffect(() => {
    let isGone = false
    const load = async (): Promise<void> => {
      const answer = await request<AssetOptionsView>(from, 'assets')
      if (answer.ok && !isGone) setOptions(answer.data)
    }
    if (!isLoaded) void load()
    const timer = setInterval(
      () => {
        if (document.visibilityState === 'visible') void load()
      },
      isLoaded ? REFRESH_MS : RETRY_MS,
    )
    return () => {
      isGone = true
      clearInterval(timer)
    }
  }, [from, isLoaded])
  return options
}

function Search({ value, onInput }: { readonly value: string; readonly onInput: (text: string) => void }) {
  const { say } = useSpeech()
  return (
    <input
      class="search"
      type="search"
      value={value}
      aria-label={say('pick.searchLabel')}
      placeholder={say('pick.search')}
      autocomplete="off"
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  )
}
