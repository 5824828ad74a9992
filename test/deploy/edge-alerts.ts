import { type AlertCase, gauge } from './alert-case.ts'

const requests = (status: string) => `paymesh_http_request_seconds_count{operation="POST /invoices",status="${status}"}`

const caddy = (code: string) =>
  `caddy_http_request_duration_seconds_count{server="srv0",handler="reverse_proxy",method="POST",code="${code}"}`

/** Alerts about requests that come in. */
export const EDGE_ALERTS: Readonly<Record<string, AlertCase>> = {
  ErrorsBurnFast: {
    interval: '1m',
    fires: [
      { why: 'one of ten fails', series: { [requests('201')]: '0+90x120', [requests('500')]: '0+10x120' }, at: '90m' },
    ],
    silent: [
      {
        why: 'one of a thousand fails',
        series: { [requests('201')]: '0+999x120', [requests('500')]: '0+1x120' },
        at: '90m',
      },
      {
        why: 'it is over',
        series: { [requests('201')]: '0+90x240', [requests('500')]: '0+10x80 800+0x160' },
        at: '95m',
      },
      {
        why: 'one of the sixty requests of an hour fails',
        series: { [requests('201')]: '0+1x120', [requests('500')]: '0+0x60 1+0x60' },
        at: '61m',
      },
      {
        why: 'callers make mistakes',
        series: { [requests('201')]: '0+10x120', [requests('400')]: '0+90x120' },
        at: '90m',
      },
    ],
  },
  ErrorsBurnSlowly: {
    interval: '5m',
    fires: [
      {
        why: 'one of a hundred fails',
        series: { [requests('200')]: '0+99x100', [requests('503')]: '0+1x100' },
        at: '7h',
      },
    ],
    silent: [
      {
        why: 'one of a thousand fails',
        series: { [requests('200')]: '0+999x100', [requests('503')]: '0+1x100' },
        at: '7h',
      },
      {
        why: 'three of two hundred fail in a small shop',
        series: { [requests('200')]: '0+3x100', [requests('503')]: '0+0x80 1+1x2 3+0x10' },
        at: '7h',
      },
    ],
  },
  RequestsSlow: {
    fires: [
      {
        why: 'every request takes more than a second',
        series: {
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="1"}': '0+0x200',
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="2.5"}': '0+5x200',
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="+Inf"}': '0+5x200',
          'paymesh_http_request_seconds_count{operation="GET /invoices",status="200"}': '0+5x200',
        },
        at: '20m',
      },
    ],
    silent: [
      {
        why: 'there is a request a minute',
        series: {
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="1"}': '0+0x200',
          'paymesh_http_request_seconds_bucket{operation="GET /invoices",le="+Inf"}': '0+0x5 1+0x5 2+0x5 3+0x200',
          'paymesh_http_request_seconds_count{operation="GET /invoices",status="200"}': '0+0x5 1+0x5 2+0x5 3+0x200',
        },
        at: '20m',
      },
    ],
  },
  EdgeSilent: {
    interval: '5m',
    fires: [
      { why: 'requests end at once', series: { [requests('201')]: '0+100x100 10000+0x20' }, at: '9h' },
      { why: 'none reaches a new release', series: { [requests('201')]: '0+100x100 stale' }, at: '9h' },
    ],
    silent: [
      { why: 'requests go on', series: { [requests('201')]: '0+100x120' }, at: '9h' },
      { why: 'there never were many', series: { [requests('201')]: '0+1x100 100+0x20' }, at: '9h' },
    ],
  },
  BalancerFails: {
    fires: [
      { why: 'Caddy has no upstream', series: { [caddy('200')]: '0+50x60', [caddy('502')]: '0+50x60' }, at: '7m' },
      { why: 'nothing else is left', series: { [caddy('503')]: '0+5x60' }, at: '7m' },
      {
        why: 'an Ingress has no member',
        series: {
          'nginx_ingress_controller_requests{ingress="paymesh-api",status="200"}': '0+50x60',
          'nginx_ingress_controller_requests{ingress="paymesh-api",status="503"}': '0+50x60',
        },
        at: '7m',
      },
    ],
    silent: [
      { why: 'all is well', series: { [caddy('200')]: '0+50x60', [caddy('404')]: '0+50x60' }, at: '7m' },
      { why: 'one of a few fails', series: { [caddy('200')]: '0+1x60', [caddy('502')]: '0+0x30 1+0x30' }, at: '7m' },
      {
        why: 'another application of the cluster fails',
        series: { 'nginx_ingress_controller_requests{ingress="blog",status="503"}': '0+50x60' },
        at: '7m',
      },
    ],
  },
  BalancerDown: gauge('up{job="edge",process="caddy",instance="caddy:9180"}', 0, 1, '3m', '110s'),
}
