require File.join(ARGV.shift, 'webhook_verification')

$stdin.each_line do |line|
  format, now, secrets, headers, body = line.split
  pairs = headers.unpack1('m0').force_encoding(Encoding::UTF_8).split("\n").map { |pair| pair.split(': ', 2) }
  puts WebhookVerification.verify(body.unpack1('m0'), pairs.to_h, secrets.split(','), data_format: format, now: now.to_i)
end
