<?php

declare(strict_types=1);

namespace Paymesh;

/** Sends calls, retries included. All attempts of a POST send the same bytes under one key, so a retry never acts twice. */
final class Transport
{
    private const BACKOFF_FIRST_S = 0.25;
    private const BACKOFF_CAP_S = 8.0;
    /** Requested waits longer than this, together with those of the call before, are thrown as an error instead: a page of a shop waits for it. */
    private const RETRY_AFTER_MAX_S = 60;
    private const CHUNK_BYTES = 65_536;

    private string $baseUrl;

    /** @param \Closure(float): void $sleep */
    public function __construct(
        private string $apiKey,
        string $baseUrl,
        private float $timeoutS,
        private int $maxRetries,
        private \Closure $sleep,
    ) {
        if (preg_match('/^[\x21-\x7e]+$/D', $apiKey) !== 1) {
            throw new \InvalidArgumentException('apiKey must be an API key');
        }
        if (preg_match('~^https?://[^?#]+$~D', $baseUrl) !== 1) {
            throw new \InvalidArgumentException('baseUrl must be the http(s) address of the API without a query');
        }
        $this->baseUrl = rtrim($baseUrl, '/');
    }

    /**
     * The envelope of a success: with a page and its place when `$isList`, else with one resource. `$gone` answers a DELETE where an attempt
     * without an answer has deleted it, so that the API finds nothing when it is repeated.
     *
     * @param array<string, scalar|null> $query
     * @param array<string, mixed>|null $body
     * @param array<string, mixed>|null $gone
     * @return array<string, mixed>
     */
    public function call(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        ?string $key = null,
        bool $isList = false,
        ?array $gone = null,
    ): array {
        $given = array_filter($query, fn ($value): bool => $value !== null);
        $url = $this->baseUrl . $path . ($given === [] ? '' : '?' . http_build_query($given));
        $key = $method === 'POST' ? ($key ?? bin2hex(random_bytes(16))) : null;
        if ($key !== null && preg_match('/^[\x21-\x7e]{1,255}$/D', $key) !== 1) {
            throw new \InvalidArgumentException('the idempotency key must be 1 to 255 visible ASCII characters');
        }
        $headers = [
            'Accept: application/json',
            "Authorization: Bearer {$this->apiKey}",
            'User-Agent: paymesh-client-php/' . Paymesh::VERSION,
        ];
        if ($key !== null) {
            $headers[] = "Idempotency-Key: $key";
        }
        if ($body !== null) {
            $headers[] = 'Content-Type: application/json';
        }
        $content = $body === null ? '' : json_encode($body, JSON_THROW_ON_ERROR);
        $waitedS = 0.0;
        $isUnclear = false;
        for ($attempt = 0; ; $attempt++) {
            [$answer, $waitS] = $this->attempt($method, $url, "$method $path", $headers, $content, $key, $isList);
            if (is_array($answer)) {
                return $answer;
            }
            if ($isUnclear && $gone !== null && $answer instanceof ApiError && $answer->apiCode === 'NOT_FOUND') {
                return ['data' => $gone];
            }
            $isUnclear = $isUnclear || $answer instanceof ConnectionFailed || $answer->status >= 500;
            if ($attempt >= $this->maxRetries || !$answer->isRetryable() || ($waitS !== null && $waitedS + $waitS > self::RETRY_AFTER_MAX_S)) {
                throw $answer;
            }
            $ceiling = min(self::BACKOFF_CAP_S, self::BACKOFF_FIRST_S * 2 ** $attempt);
            $waitS ??= $ceiling / 2 + lcg_value() * $ceiling / 2;
            ($this->sleep)($waitS);
            $waitedS += $waitS;
        }
    }

    /**
     * @param list<string> $headers
     * @return array{array<string, mixed>|ApiError|ConnectionFailed, float|null} A success or an error, and the wait that was requested.
     */
    private function attempt(string $method, string $url, string $operation, array $headers, string $content, ?string $key, bool $isList): array
    {
        // A key must not be sent to a host that was not configured, so no redirect is followed.
        $options = ['method' => $method, 'header' => $headers, 'content' => $content, 'timeout' => $this->timeoutS];
        $context = stream_context_create(['http' => $options + ['follow_location' => 0, 'ignore_errors' => true]]);
        $endsAt = hrtime(true) / 1e9 + $this->timeoutS;
        $stream = @fopen($url, 'rb', false, $context);
        $raw = '';
        // The time limit of a stream is per read, and an answer of single bytes would take hours.
        while ($stream !== false && !feof($stream) && ($left = $endsAt - hrtime(true) / 1e9) > 0) {
            stream_set_timeout($stream, (int) $left, (int) (fmod($left, 1) * 1e6));
            $part = @fread($stream, self::CHUNK_BYTES);
            if ($part === false) {
                break;
            }
            $raw .= $part;
        }
        if ($stream === false || !feof($stream)) {
            $reason = error_get_last()['message'] ?? 'no answer';
            return [new ConnectionFailed("the API was not reached ($operation): $reason", null, $key), null];
        }
        $received = stream_get_meta_data($stream)['wrapper_data'] ?? [];
        fclose($stream);
        $status = preg_match('~^HTTP/\S+ (\d{3})~', (string) ($received[0] ?? ''), $match) === 1 ? (int) $match[1] : 0;
        $envelope = json_decode($raw, true);
        // The stream reports neither an answer whose end is missing nor one that is not HTTP; one that ends in its headers looks empty.
        $isEmpty = $key !== null && $raw === '' && $status < 300 && self::header($received, 'Content-Length') !== '0';
        if ($status === 0 || $isEmpty || ($envelope === null && str_starts_with($raw, '{'))) {
            return [new ConnectionFailed("the answer was cut ($operation)", null, $key), null];
        }
        $waitS = self::retryAfterS((string) self::header($received, 'Retry-After'));
        if (!is_array($envelope) || !is_string($envelope['request_id'] ?? null)) {
            return [new ConnectionFailed("not an answer of the API ($operation, status $status)", $status, $key), $waitS];
        }
        $error = $envelope['error'] ?? null;
        if (is_array($error) && is_string($error['code'] ?? null)) {
            $given = is_array($error['details'] ?? null) ? $error['details'] : [];
            $details = array_values(array_filter($given, fn ($each): bool => is_string($each['path'] ?? null) && is_string($each['message'] ?? null)));
            $requestId = $envelope['request_id'];
            $message = is_string($error['message'] ?? null) ? $error['message'] : '';
            $isReplayed = self::header($received, 'Idempotent-Replayed') === 'true';
            return [new ApiError($error['code'], $message, $status, $details, $requestId, $operation, $isReplayed), $waitS];
        }
        if ($status < 200 || $status > 299 || !self::hasContent($envelope, $isList)) {
            return [new ConnectionFailed("not an answer of the API ($operation, status $status)", $status, $key), $waitS];
        }
        return [$envelope, null];
    }

    /** @param array<string, mixed> $envelope Anything else would be a resource without content, or a list that ends early. */
    private static function hasContent(array $envelope, bool $isList): bool
    {
        [$data, $meta] = [$envelope['data'] ?? null, $envelope['meta'] ?? null];
        if (!$isList) {
            return is_array($data) && !array_is_list($data);
        }
        $cursor = is_array($meta) && array_key_exists('next_cursor', $meta) ? $meta['next_cursor'] : false;
        return is_array($data) && array_is_list($data) && is_bool($meta['has_more'] ?? null) && ($cursor === null || is_string($cursor));
    }

    /** @param list<string> $lines */
    private static function header(array $lines, string $name): ?string
    {
        $value = null;
        foreach ($lines as $line) {
            $value = stripos($line, "$name:") === 0 ? trim(substr($line, strlen($name) + 1)) : $value;
        }
        return $value;
    }

    /** Whole seconds or an HTTP date (RFC 9110 §10.2.3) as seconds from now; null when absent or unreadable. */
    private static function retryAfterS(string $text): ?float
    {
        if (preg_match('/^[0-9]+$/D', $text) === 1) {
            return (float) $text;
        }
        $at = \DateTimeImmutable::createFromFormat('D, d M Y H:i:s \G\M\T', $text, new \DateTimeZone('UTC'));
        return $at === false ? null : max(0.0, $at->getTimestamp() - microtime(true));
    }
}
