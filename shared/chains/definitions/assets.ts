import type { AssetId, NetworkId } from '#shared/domain/enumerations.ts'
import type { AssetRow, SiblingToken } from './chain.ts'

/**
 * Every asset an invoice can be paid in. Contracts and decimals: developers.circle.com (USDC), the Uniswap default
 * token list of 2026-09-23, TRON and Solana explorers; the scanner compares `decimals` with the contract at its start.
 * USDT and USDC on BNB Smart Chain have 18 decimals, everywhere else 6. Symbols on chain change (USDT0, USD₮0), the
 * contract does not: only the contract identifies a token. Dust of coins with outputs: the relay limits of their reference nodes; of SOL: the rent
 * of an empty account, 128 bytes at 5,080 lamports (SIMD-0437, two of five steps live, docs.chainstack.com, read 2026-11-28).
 */
export const ASSETS = {
  btc_bitcoin: {
    name: 'Bitcoin',
    contract: null,
    decimals: 8,
    displayDecimals: 8,
    minimum: '0.00001',
    dust: '0.00000546',
  },
  ltc_litecoin: {
    name: 'Litecoin',
    contract: null,
    decimals: 8,
    displayDecimals: 8,
    minimum: '0.001',
    dust: '0.0000546',
  },
  doge_dogecoin: {
    name: 'Dogecoin',
    contract: null,
    decimals: 8,
    displayDecimals: 8,
    minimum: '1',
    dust: '0.01',
  },
  eth_ethereum: {
    name: 'Ether',
    contract: null,
    decimals: 18,
    displayDecimals: 6,
    minimum: '0.0001',
    dust: '0.00001',
  },
  usdt_ethereum: {
    name: 'Tether USD',
    contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.5',
    dust: '0.01',
  },
  usdc_ethereum: {
    name: 'USD Coin',
    contract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.5',
    dust: '0.01',
  },
  bnb_bsc: {
    name: 'BNB',
    contract: null,
    decimals: 18,
    displayDecimals: 6,
    minimum: '0.0001',
    dust: '0.00001',
  },
  usdt_bsc: {
    name: 'Tether USD (BNB Smart Chain)',
    contract: '0x55d398326f99059fF775485246999027B3197955',
    decimals: 18,
    displayDecimals: 2,
    minimum: '0.1',
    dust: '0.01',
  },
  usdc_bsc: {
    name: 'USD Coin (BNB Smart Chain)',
    contract: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
    decimals: 18,
    displayDecimals: 2,
    minimum: '0.1',
    dust: '0.01',
  },
  pol_polygon: {
    name: 'POL',
    contract: null,
    decimals: 18,
    displayDecimals: 6,
    minimum: '0.1',
    dust: '0.001',
  },
  usdt_polygon: {
    name: 'Tether USD (Polygon)',
    contract: '0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.1',
    dust: '0.01',
  },
  usdc_polygon: {
    name: 'USD Coin (Polygon)',
    contract: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.1',
    dust: '0.01',
  },
  eth_base: {
    name: 'Ether (Base)',
    contract: null,
    decimals: 18,
    displayDecimals: 6,
    minimum: '0.00005',
    dust: '0.000001',
  },
  usdc_base: {
    name: 'USD Coin (Base)',
    contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.1',
    dust: '0.01',
  },
  eth_arbitrum: {
    name: 'Ether (Arbitrum One)',
    contract: null,
    decimals: 18,
    displayDecimals: 6,
    minimum: '0.00005',
    dust: '0.000001',
  },
  usdt_arbitrum: {
    name: 'Tether USD (Arbitrum One)',
    contract: '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.1',
    dust: '0.01',
  },
  usdc_arbitrum: {
    name: 'USD Coin (Arbitrum One)',
    contract: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.1',
    dust: '0.01',
  },
  trx_tron: {
    name: 'TRON',
    contract: null,
    decimals: 6,
    displayDecimals: 6,
    minimum: '1',
    dust: '0.1',
  },
  usdt_tron: {
    name: 'Tether USD (TRON)',
    contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.5',
    dust: '0.01',
  },
  sol_solana: {
    name: 'Solana',
    contract: null,
    decimals: 9,
    displayDecimals: 6,
    minimum: '0.002',
    dust: '0.00065024',
  },
  usdc_solana: {
    name: 'USD Coin (Solana)',
    contract: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.1',
    dust: '0.01',
  },
  usdt_solana: {
    name: 'Tether USD (Solana)',
    contract: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
    decimals: 6,
    displayDecimals: 2,
    minimum: '0.1',
    dust: '0.01',
  },
} as const satisfies Record<AssetId, AssetRow>

/**
 * Tokens that payers mistake for an asset above: recorded for support, never credited. A token that becomes an asset leaves this
 * table; no contract is in both. Contracts: the sources of `ASSETS`.
 */
export const SIBLINGS = {
  // Other dollars, what exchanges hand out for POL over Ethereum, and wrapped ether, which wallets do not show as ETH.
  // @uniswap/default-token-list 22.21.0; FDUSD: etherscan.io.
  ethereum: [
    { symbol: 'DAI', contract: '0x6B175474E89094C44Da98b954EedeAC495271d0F', like: 'usdt_bsc' },
    { symbol: 'BUSD', contract: '0x4Fabb145d64652a948d72533023f6E7A623C7C53', like: 'usdt_bsc' },
    { symbol: 'FDUSD', contract: '0xc5f0f7b66764F6ec8C8Dff7BA683102295E16409', like: 'usdt_bsc' },
    { symbol: 'PYUSD', contract: '0x6c3ea9036406852006290770BEdFcAbA0e23A0e8', like: 'usdc_ethereum' },
    { symbol: 'POL', contract: '0x455e53CBB86018Ac2B8092FdCd39d8444aFFC3F6', like: 'pol_polygon' },
    { symbol: 'MATIC', contract: '0x7D1AfA7B718fb893dB30A3aBc0Cfc608AaCfeBB0', like: 'pol_polygon' },
    { symbol: 'WETH', contract: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', like: 'eth_ethereum' },
  ],
  // What exchanges hand out over this network for ether, bitcoin and POL, and other dollars.
  // @uniswap/default-token-list 22.21.0; BTCB and FDUSD: bscscan.com.
  bsc: [
    { symbol: 'ETH (Binance-Peg)', contract: '0x2170Ed0880ac9A755fd29B2688956BD959F933F8', like: 'eth_ethereum' },
    { symbol: 'BTCB', contract: '0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c', like: 'eth_ethereum' },
    { symbol: 'MATIC (Binance-Peg)', contract: '0xCC42724C6683B7E57334c4E856f4c9965ED682bD', like: 'pol_polygon' },
    { symbol: 'BUSD', contract: '0xe9e7CEA3DedcA5984780Bafc599bD69ADd087D56', like: 'usdt_bsc' },
    { symbol: 'FDUSD', contract: '0xc5f0f7b66764F6ec8C8Dff7BA683102295E16409', like: 'usdt_bsc' },
    { symbol: 'DAI (Binance-Peg)', contract: '0x1AF3F329e8BE154074D8769D1FFa4eE058B1DBc3', like: 'usdt_bsc' },
  ],
  // Exchanges hand out WETH for ether over this network. DAI, WETH: @uniswap/default-token-list 22.21.0.
  polygon: [
    { symbol: 'USDC.e', contract: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', like: 'usdc_polygon' },
    { symbol: 'DAI', contract: '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063', like: 'usdt_bsc' },
    { symbol: 'WETH', contract: '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619', like: 'eth_ethereum' },
  ],
  // Bridged Tether is no asset of ours here. USDT: basescan.org; DAI: @uniswap/default-token-list 22.21.0.
  base: [
    { symbol: 'USDbC', contract: '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', like: 'usdc_base' },
    { symbol: 'USDT', contract: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', like: 'usdc_base' },
    { symbol: 'DAI', contract: '0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb', like: 'usdt_bsc' },
  ],
  // DAI: @uniswap/default-token-list 22.21.0.
  arbitrum: [
    { symbol: 'USDC.e', contract: '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', like: 'usdc_arbitrum' },
    { symbol: 'DAI', contract: '0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1', like: 'usdt_bsc' },
  ],
  tron: [{ symbol: 'USDC', contract: 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8', like: 'usdt_tron' }],
  // Wrapped SOL lies in a token account, where no wallet shows it as SOL (spl.solana.com/token, "Wrapping SOL").
  solana: [{ symbol: 'WSOL', contract: 'So11111111111111111111111111111111111111112', like: 'sol_solana' }],
} as const satisfies Partial<Record<NetworkId, readonly SiblingToken[]>>
