import type { AssetOption } from '#shared/contracts/checkout/invoice-view.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { estimateText, roughText } from '../format/format-values.ts'
import { useSpeech } from '../locales/locale.tsx'
import type { Speech } from '../locales/speech.ts'
import { CoinMark } from '../parts/coin-mark.tsx'
import { Icon } from '../parts/icon.tsx'

/** A coin and the networks it can be sent on. */
export interface Coin {
  readonly symbol: string
  readonly name: string
  readonly options: readonly AssetOption[]
}

/** The most popular coins first. */
const COINS = ['USDT', 'USDC', 'BTC', 'ETH', 'LTC', 'SOL', 'TRX', 'BNB', 'POL', 'DOGE']

/** Groups assets by coin; only those whose coin or network matches the search text. */
export function coinsOf(assets: readonly AssetOption[], search: string): readonly Coin[] {
  const wanted = search.trim().toLowerCase()
  const matches = ({ symbol, name, network }: AssetOption) =>
    [symbol, name, NETWORKS[network].name, NETWORKS[network].standard ?? ''].some((text) =>
      text.toLowerCase().includes(wanted),
    )
  const coins = new Map<string, AssetOption[]>()
  for (const option of assets.filter(matches)) coins.set(option.symbol, [...(coins.get(option.symbol) ?? []), option])
  const rank = (list: readonly string[], name: string) => (list.includes(name) ? list.indexOf(name) : list.length)
  return [...coins]
    .map(([symbol, options]) => ({
      symbol,
      name: options[0]?.name ?? symbol,
      options: options.sort((left, right) => NETWORKS[left.network].payerOrder - NETWORKS[right.network].payerOrder),
    }))
    .sort((left, right) => rank(COINS, left.symbol) - rank(COINS, right.symbol))
}

interface CardProps {
  readonly coin: Coin
  readonly isOpen: boolean
  readonly chosen: AssetId | null
  readonly toggle: () => void
  readonly choose: (asset: AssetId) => void
}

/** One coin; opened it shows its networks. */
export function CoinCard({ coin, isOpen, chosen, toggle, choose }: CardProps) {
  const speech = useSpeech()
  const { say } = speech
  const { symbol, name, options } = coin
  const estimate = options.find((option) => option.estimate !== null)?.estimate ?? null
  const single = options.length === 1 ? options[0] : undefined
  const id = `networks-${symbol}`
  return (
    <div class={isOpen ? 'coin open' : 'coin'}>
      <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={toggle}>
        <CoinMark name={symbol} />
        <span>
          <b>{symbol}</b>
          <small>{single === undefined ? `${name}, ${say('pick.networks', { x: options.length })}` : name}</small>
        </span>
        <span class="estimate">{estimate !== null && `≈ ${estimateText(estimate)}`}</span>
        <Icon name="chevron" />
      </button>
      {isOpen && (
        <fieldset class="networks" id={id}>
          <legend class="unseen">{say('pick.legend', { c: symbol })}</legend>
          <p>{say('pick.which')}</p>
          <div class="network-list">
            {options.map((option) => (
              <NetworkChoice
                key={option.asset}
                option={option}
                isChosen={option.asset === chosen}
                isToken={option.symbol !== NETWORKS[option.network].nativeSymbol}
                time={timeText(speech, option)}
                choose={choose}
              />
            ))}
          </div>
        </fieldset>
      )}
    </div>
  )
}

interface ChoiceProps {
  readonly option: AssetOption
  readonly isChosen: boolean
  readonly isToken: boolean
  readonly time: string
  readonly choose: (asset: AssetId) => void
}

function NetworkChoice({ option, isChosen, isToken, time, choose }: ChoiceProps) {
  const { name, mark, standard } = NETWORKS[option.network]
  const state = option.isAvailable ? (isChosen ? 'network chosen' : 'network') : 'network off'
  return (
    <label class={state}>
      <input
        type="radio"
        name="asset"
        value={option.asset}
        checked={isChosen}
        disabled={!option.isAvailable}
        onChange={() => choose(option.asset)}
      />
      <CoinMark name={mark} label={name} />
      <span>
        <b>{name}</b> {isToken && standard !== null && <small>({standard})</small>}
      </span>
      <span class="time">{time}</span>
    </label>
  )
}

function timeText({ say }: Speech, { isAvailable, confirmMs }: AssetOption): string {
  if (!isAvailable) return say('pick.paused')
  return confirmMs < 60_000 ? say('under', { t: '1 min' }) : say('about', { t: roughText(confirmMs) })
}
