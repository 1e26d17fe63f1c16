#include "commands/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/document.h"
#include "base/memory.h"
#include "base/text.h"

enum {
    CLIENTS = 16,         /* the most connections at one time */
    REQUEST_SIZE = 8192,  /* bytes of a request line with its headers; browsers send some 1000 */
    LONGEST_WAIT_MS = 100 /* milliseconds after which a signal is noticed */
};

/* The signals that ask the server to end. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

/* The seconds that a client may take: to send its request, to accept more bytes of the answer, and
 * to close the connection after the answer. */
static const double request_seconds = 5.0, answer_seconds = 30.0, drain_seconds = 1.0;

/* A page with a count of its users (the server, and the clients to which it is being sent); freed
 * when there are none. */
struct page {
    size_t users;
    int refresh; /* seconds after which a browser asks again; 0: never */
    struct text html;
};

/* The phases of a connection: the server reads the request, sends the answer, and drops what the
 * client still sends until the client closes. DRAINING is needed since closing a socket with unread
 * bytes would destroy the end of the answer. */
enum phase { READING, SENDING, DRAINING };

struct client {
    int fd; /* -1: no client */
    enum phase phase;
    double begin, deadline; /* by clock_seconds(): when it connected; when it is cut off */
    char request[REQUEST_SIZE];
    size_t length;     /* bytes of the request so far */
    struct text head;  /* headers of the answer, and its body if there is no page */
    struct page *page; /* page that follows the head as the body; NULL: none */
    size_t sent;       /* bytes of head and page that were sent */
};

struct server {
    int fd, port; /* the socket that listens, -1 if none; its port */
    struct page *page;
    struct client clients[CLIENTS];
    sigset_t ours, before; /* the signals that ask to end; the mask before server_open() */
};

/* --- pages ------------------------------------------------------------------------------------ */

static void page_drop(struct page *page)
{
    if (!page || --page->users > 0)
        return;
    text_free(&page->html);
    free(page);
}

static enum status put(struct server *server, struct text *html, int refresh, struct error *error)
{
    struct page *const page = html->failed ? NULL : calloc(1, sizeof *page);
    if (!page) {
        text_free(html);
        return error_memory(error);
    }
    *page = (struct page){ .users = 1, .refresh = refresh, .html = *html };
    page_drop(server->page);
    server->page = page;
    return STATUS_OK;
}

enum status server_put_words(struct server *server, const char *html, int refresh,
                             struct error *error)
{
    struct text text = { 0 };
    text_append(&text, html, strlen(html));
    return put(server, &text, refresh, error);
}

/* Copies a page without the addresses of its links: they lead to files beside the page, which are
 * not served. */
static void copy_without_links(const char *html, struct text *copy)
{
    static const char link[] = "<a href=\"";
    for (const char *at; (at = strstr(html, link)) != NULL;) {
        text_append(copy, html, (size_t)(at - html));
        text_append(copy, "<a", 2);
        html = at + strlen(link);
        html += strcspn(html, "\"");
        html += *html == '"';
    }
    text_append(copy, html, strlen(html));
}

enum status server_put_file(struct server *server, const char *path, int refresh,
                            struct error *error)
{
    struct text html = { 0 }, served = { 0 };
    const enum status status = document_read_text(path, &html, error);
    if (!status)
        copy_without_links(html.bytes ? html.bytes : "", &served);
    text_free(&html);
    return status ? status : put(server, &served, refresh, error);
}

/* --- one client ------------------------------------------------------------------------------- */

static void client_close(struct client *client)
{
    if (client->fd >= 0) {
        /* A child process that draws has a copy of the descriptor, so close() alone would not end
         * it. */
        shutdown(client->fd, SHUT_RDWR);
        close(client->fd);
    }
    text_free(&client->head);
    page_drop(client->page);
    client->fd = -1;
    client->page = NULL;
}

/* Tells whether the request names no host, or this machine by a name of its own. Otherwise a page
 * of another site, whose host name was made to lead to this machine, could read the page. */
static bool names_this_machine(const char *request)
{
    static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
    const char *line = request;
    while ((line = strchr(line, '\n')) != NULL && strncasecmp(++line, "host:", 5) != 0)
        ;
    if (!line)
        return true;
    line += 5;
    line += strspn(line, " \t");
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        const size_t length = strlen(names[k]);
        if (strncasecmp(line, names[k], length) == 0 && strchr(": \t\r\n", line[length]))
            return true;
    }
    return false;
}

/* Returns the status line of the answer to a request, without "HTTP/1.1": "200 OK", for GET of "/"
 * only. */
static const char *judge(const char *request)
{
    const size_t method = strspn(request, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const char *const target = request + method + 1;
    const size_t end = method && request[method] == ' ' ? strcspn(target, " \r\n") : 0;
    if (end == 0 || strncmp(target + end, " HTTP/1.", 8) != 0)
        return "400 Bad Request";
    if (method != 3 || strncmp(request, "GET", 3) != 0)
        return "405 Method Not Allowed\r\nAllow: GET";
    return end == 1 && target[0] == '/' && names_this_machine(request) ? "200 OK" : "404 Not Found";
}

static void answer(struct client *client, struct page *page, const char *line)
{
    const bool found = strncmp(line, "200", 3) == 0;
    text_print(&client->head, "HTTP/1.1 %s\r\nContent-Type: text/%s; charset=utf-8\r\n", line,
               found ? "html" : "plain");
    if (found && page->refresh)
        text_print(&client->head, "Refresh: %d\r\n", page->refresh);
    text_print(&client->head,
               "Content-Length: %zu\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff"
               "\r\nConnection: close\r\n\r\n%.*s",
               found ? page->html.length : strcspn(line, "\r"),
               found ? 0 : (int)strcspn(line, "\r"), line);
    if (found) {
        client->page = page;
        page->users++;
    }
    client->phase = SENDING;
    client->deadline = clock_seconds() + answer_seconds;
}

static bool is_to_repeat(ssize_t result)
{
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static void client_read(struct client *client, struct page *page)
{
    char *const free_space = client->request + client->length;
    const ssize_t got = recv(client->fd, free_space, REQUEST_SIZE - 1 - client->length, 0);
    if (is_to_repeat(got))
        return;
    if (got <= 0) {
        client_close(client);
        return;
    }
    client->length += (size_t)got;
    client->request[client->length] = '\0';
    if (strlen(client->request) < client->length)
        answer(client, page, "400 Bad Request");
    else if (strstr(client->request, "\r\n\r\n") || strstr(client->request, "\n\n"))
        answer(client, page, judge(client->request));
    else if (client->length == REQUEST_SIZE - 1)
        answer(client, page, "431 Request Header Fields Too Large");
}

static void client_send(struct client *client)
{
    const struct text *const parts[] = { &client->head, client->page ? &client->page->html : NULL };
    size_t begin = client->sent;
    for (size_t k = 0; k < COUNT_OF(parts) && parts[k] && !client->head.failed; k++) {
        if (begin >= parts[k]->length) {
            begin -= parts[k]->length;
            continue;
        }
        const ssize_t sent = send(client->fd, parts[k]->bytes + begin, parts[k]->length - begin, 0);
        if (is_to_repeat(sent))
            return;
        if (sent <= 0)
            break;
        client->sent += (size_t)sent;
        client->deadline = clock_seconds() + answer_seconds;
        return;
    }
    const size_t body = client->page ? client->page->html.length : 0;
    if (client->head.failed || client->sent < client->head.length + body ||
        shutdown(client->fd, SHUT_WR) != 0) {
        client_close(client);
        return;
    }
    client->phase = DRAINING;
    client->deadline = clock_seconds() + drain_seconds;
}

static void client_drain(struct client *client)
{
    const ssize_t got = recv(client->fd, client->request, REQUEST_SIZE, 0);
    if (got <= 0 && !is_to_repeat(got))
        client_close(client);
}

static void client_work(struct client *client, struct page *page)
{
    if (client->phase == READING)
        client_read(client, page);
    else if (client->phase == SENDING)
        client_send(client);
    else
        client_drain(client);
}

/* --- the server ------------------------------------------------------------------------------- */

static bool set_flags(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

static enum status listen_at(struct server *server, int port, struct error *error)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    const int yes = 1; /* makes a port usable at once after another server on it has ended */
    struct sockaddr *const any = (struct sockaddr *)&address;
    server->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (server->fd < 0 || !set_flags(server->fd) ||
        setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(server->fd, any, size) != 0 || listen(server->fd, CLIENTS) != 0 ||
        getsockname(server->fd, any, &size) != 0)
        return error_set(
            error, STATUS_UNAVAILABLE,
            "orrery: --serve=%d: the port cannot be used: %s; --serve=0 takes one that "
            "is free",
            port, strerror(errno));
    server->port = ntohs(address.sin_port);
    return STATUS_OK;
}

enum status server_open(int port, struct server **server, struct error *error)
{
    struct server *const made = *server = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->fd = -1;
    for (size_t k = 0; k < CLIENTS; k++)
        made->clients[k].fd = -1;
    sigset_t blocked;
    sigemptyset(&made->ours);
    for (size_t k = 0; k < COUNT_OF(ends); k++)
        sigaddset(&made->ours, ends[k]);
    blocked = made->ours;
    sigaddset(&blocked, SIGPIPE); /* send() to a client that has gone then fails */
    sigprocmask(SIG_BLOCK, &blocked, &made->before);
    if (listen_at(made, port, error)) {
        server_close(made);
        *server = NULL;
    }
    return error->status;
}

int server_port(const struct server *server)
{
    return server->port;
}

/* Returns the struct for a new client: a free one, or that of the client who has been connected
 * longest, who is cut off. */
static struct client *place_for_client(struct server *server)
{
    struct client *oldest = &server->clients[0];
    for (size_t k = 0; k < CLIENTS; k++) {
        struct client *const client = &server->clients[k];
        if (client->fd < 0)
            return client;
        if (client->begin < oldest->begin)
            oldest = client;
    }
    client_close(oldest);
    return oldest;
}

static void accept_client(struct server *server)
{
    const int fd = accept(server->fd, NULL, NULL);
    if (fd < 0)
        return;
    if (!set_flags(fd)) {
        close(fd);
        return;
    }
    struct client *const client = place_for_client(server);
    const double now = clock_seconds();
    *client = (struct client){ .fd = fd, .begin = now, .deadline = now + request_seconds };
}

static bool is_asked_to_end(void)
{
    sigset_t pending;
    sigpending(&pending);
    for (size_t k = 0; k < COUNT_OF(ends); k++)
        if (sigismember(&pending, ends[k]) == 1)
            return true;
    return false;
}

/* Waits at most `milliseconds` until a client sends or takes bytes or a new one connects, and
 * serves each that is ready; cuts off clients beyond their deadline. */
static void serve_once(struct server *server, int milliseconds)
{
    struct pollfd waits[CLIENTS + 1];
    for (size_t k = 0; k < CLIENTS; k++) /* poll() ignores the free places, whose fd is -1 */
        waits[k] =
            (struct pollfd){ .fd = server->clients[k].fd,
                             .events = server->clients[k].phase == SENDING ? POLLOUT : POLLIN };
    waits[CLIENTS] = (struct pollfd){ .fd = server->fd, .events = POLLIN };
    if (poll(waits, CLIENTS + 1, milliseconds) < 0)
        return;
    const double now = clock_seconds();
    for (size_t k = 0; k < CLIENTS; k++) {
        if (waits[k].fd >= 0 && waits[k].revents)
            client_work(&server->clients[k], server->page);
        else if (waits[k].fd >= 0 && now > server->clients[k].deadline)
            client_close(&server->clients[k]);
    }
    if (waits[CLIENTS].revents)
        accept_client(server);
}

bool server_wait(struct server *server, double seconds)
{
    const double end = clock_seconds() + seconds;
    double left = seconds;
    do {
        const double most = LONGEST_WAIT_MS / 1000.0;
        serve_once(server, (int)(1000.0 * (left < most ? left : most)));
        if (is_asked_to_end())
            return true;
        left = end - clock_seconds();
    } while (left > 0);
    return false;
}

void server_close(struct server *server)
{
    if (!server)
        return;
    for (size_t k = 0; k < CLIENTS; k++)
        client_close(&server->clients[k]);
    if (server->fd >= 0)
        close(server->fd);
    page_drop(server->page);
    int number;
    while (is_asked_to_end())
        sigwait(&server->ours, &number);
    sigprocmask(SIG_SETMASK, &server->before, NULL);
    free(server);
}
