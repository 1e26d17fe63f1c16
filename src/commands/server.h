/*
 * A server of one page over HTTP/1.1, for the browsers of this machine. It answers only on the
 * loopback interface, and only GET of "/". Every answer ends its connection. A client that is slow,
 * sends too much or breaks off loses its connection, and delays no other.
 */
#ifndef ORRERY_COMMANDS_SERVER_H
#define ORRERY_COMMANDS_SERVER_H

#include <stdbool.h>

#include "base/status.h"

struct server;

/* Creates a server that listens at a port; 0 takes a free one. Until server_close(), SIGINT,
 * SIGTERM and SIGHUP are kept for server_wait(). STATUS_UNAVAILABLE (the port is taken),
 * STATUS_MEMORY. */
enum status server_open(int port, struct server **server, struct error *error);

int server_port(const struct server *server);

/* Serve this HTML, or the page in a file without its links to other files, from now on; answers
 * that have begun go on with the page before. Browsers ask again after `refresh` seconds, or never
 * if it is 0. STATUS_MEMORY, and the errors of document_read_text(). */
enum status server_put_words(struct server *server, const char *html, int refresh,
                             struct error *error);
enum status server_put_file(struct server *server, const char *path, int refresh,
                            struct error *error);

/* Answers clients for `seconds` seconds; returns true as soon as a signal asks to end, else
 * false. */
bool server_wait(struct server *server, double seconds);

/* Closes the server; accepts NULL. Signals that were kept are discarded. */
void server_close(struct server *server);

#endif
